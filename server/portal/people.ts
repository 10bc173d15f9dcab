import { errors } from '../../routers/kernel/errors.ts'
import type { PageRequest, Render, Routes } from './page-request.ts'
import { PAGE_ROWS, readOffset } from './pages/pager.ts'
import {
  inviteForm,
  peoplePage,
  personRemovalForm,
  personRemovalPage,
  roleForm,
  withdrawalForm,
} from './pages/people.ts'
import { readTeam } from './teams.ts'

const pageFor =
  (sendsMails: boolean): Render =>
  async (request) => {
    const team = await readTeam(request)
    const query = { team: team.id, limit: PAGE_ROWS, offset: readOffset(request) }
    return peoplePage(request, team, await request.developer.people.list(query), sendsMails)
  }

/** Throws 404 for someone who is not in the team. */
async function findColleague(request: PageRequest) {
  const team = await readTeam(request)
  const colleague = await request.developer.people.get({ team: team.id, person: request.params.person! })
  return { team, colleague }
}

const removal: Render = async (request) => {
  const { team, colleague } = await findColleague(request)
  if (team.role !== 'owner' && colleague.id !== request.person.id) throw errors.ownerNeeded()
  return personRemovalPage(request, team, colleague)
}

/** @param sendsMails Whether this service has a mail server. */
export function peoplePages({ get, post }: Routes, sendsMails: boolean) {
  const page = pageFor(sendsMails)
  const own = '/teams/:team/people'
  get(own, page)
  post(own, page, inviteForm, async ({ developer, params, at }, fields) => {
    const team = params.team!
    const { mailed } = await developer.people.invite({ team, ...fields })
    return `${at('teams', team, 'people')}?done=${mailed && sendsMails ? 'mailed' : 'invited'}`
  })
  post(own, page, withdrawalForm, async ({ developer, params, at }, fields) => {
    const team = params.team!
    await developer.people.withdraw({ team, ...fields })
    return `${at('teams', team, 'people')}?done=withdrawn`
  })
  post(own, page, roleForm, async ({ developer, params, at }, fields) => {
    const team = params.team!
    await developer.people.setRole({ team, ...fields })
    return `${at('teams', team, 'people')}?done=saved`
  })
  get(`${own}/:person/remove`, removal)
  post(`${own}/:person/remove`, removal, personRemovalForm, async (request, { role }) => {
    const { developer, at, person } = request
    const { team, colleague } = await findColleague(request)
    // Removes the person as confirmed, in the role that the question named.
    if (role !== colleague.role) throw errors.changedMeanwhile()
    await developer.people.remove({ team: team.id, person: colleague.id })
    return colleague.id === person.id ? `${at()}?done=left` : `${at('teams', team.id, 'people')}?done=removed`
  })
}
