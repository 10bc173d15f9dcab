import { errors } from '../../routers/kernel/errors.ts'
import { offsetOf, PAGE_ROWS } from './pages/pager.ts'
import { peoplePage, personRemovalPage } from './pages/people.ts'
import { teamOf } from './teams.ts'
import type { Routes, Show, Visit } from './visit.ts'

const pageFor =
  (sendsMails: boolean): Show =>
  async (visit) => {
    const team = await teamOf(visit)
    const query = { team: team.id, limit: PAGE_ROWS, offset: offsetOf(visit) }
    return peoplePage(visit, team, await visit.developer.people.list(query), sendsMails)
  }

/** Throws 404 for someone who is not in the team. */
async function colleagueOf(visit: Visit) {
  const team = await teamOf(visit)
  const colleague = await visit.developer.people.get({ team: team.id, person: visit.params.person! })
  return { team, colleague }
}

const removal: Show = async (visit) => {
  const { team, colleague } = await colleagueOf(visit)
  if (team.role !== 'owner' && colleague.id !== visit.person.id) throw errors.ownerNeeded()
  return personRemovalPage(visit, team, colleague)
}

const roleIn = (form: URLSearchParams) => form.get('role') as 'owner' | 'developer'

/** @param sendsMails Whether this service has a mail server. */
export function peoplePages({ get, post }: Routes, sendsMails: boolean) {
  const page = pageFor(sendsMails)
  const own = '/teams/:team/people'
  get(own, page)
  post(`${own}/invite`, page, async ({ developer, params, at }, form) => {
    const [team, email] = [params.team!, (form.get('email') ?? '').trim()]
    const { mailed } = await developer.people.invite({ team, email, role: roleIn(form) })
    return `${at('teams', team, 'people')}?done=${mailed && sendsMails ? 'mailed' : 'invited'}`
  })
  post(`${own}/withdraw`, page, async ({ developer, params, at }, form) => {
    const team = params.team!
    await developer.people.withdraw({ team, invitation: form.get('invitation') ?? '' })
    return `${at('teams', team, 'people')}?done=withdrawn`
  })
  post(`${own}/role`, page, async ({ developer, params, at }, form) => {
    const team = params.team!
    await developer.people.setRole({ team, person: form.get('person') ?? '', role: roleIn(form) })
    return `${at('teams', team, 'people')}?done=saved`
  })
  get(`${own}/:person/remove`, removal)
  post(`${own}/:person/remove/confirm`, removal, async (visit, form) => {
    const { developer, at, person } = visit
    const { team, colleague } = await colleagueOf(visit)
    // Removes the person as confirmed, in the role that the question named.
    if (form.get('confirm') !== colleague.role) throw errors.changedMeanwhile()
    await developer.people.remove({ team: team.id, person: colleague.id })
    return colleague.id === person.id ? `${at()}?done=left` : `${at('teams', team.id, 'people')}?done=removed`
  })
}
