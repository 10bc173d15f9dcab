import type { PageRequest, Render, Routes } from './page-request.ts'
import { auditPage } from './pages/audit.ts'
import { PAGE_ROWS, readOffset } from './pages/pager.ts'
import { APPS_SHOWN, appForm, CLIENTS_SHOWN, teamOverview } from './pages/team.ts'
import { createTeamForm, requestTeamForm, withdrawTeamForm } from './pages/team-signup.ts'
import { teamsPage } from './pages/teams.ts'

export function auditPages({ get }: Routes) {
  get('/teams/:team/audit', async (request) => {
    const team = await readTeam(request)
    const query = { team: team.id, limit: PAGE_ROWS, offset: readOffset(request) }
    return auditPage(request, team, await request.developer.audit.list(query))
  })
}

/** Throws 404 for a team that the person is not in. */
export const readTeam = ({ developer, params }: PageRequest) => developer.teams.summary({ team: params.team! })

const overview: Render = async (request) => {
  const { developer } = request
  const facts = await readTeam(request)
  const [team, offset] = [facts.id, readOffset(request)]
  const [apps, providers] = await Promise.all([
    developer.apps.list({ team, limit: APPS_SHOWN, offset }),
    developer.apps.providers({ team }),
  ])
  const shown = [...apps.items.map(({ id }) => id), ...(offset === 0 ? [null] : [])]
  const clients = await developer.clients.list({ team, apps: shown, limit: CLIENTS_SHOWN })
  return teamOverview(request, { team: facts, apps, clients: clients.items, providers: providers.items })
}

export function teamPages({ get, post }: Routes) {
  const own: Render = async (request) => {
    const { items: teams } = await request.developer.teams.list()
    const { items: invitations } = await request.developer.invitations.list()
    return teamsPage(request, { teams, invitations, signup: await request.developer.teams.signup() })
  }
  get('', own)
  post('', own, createTeamForm, async ({ developer, at }, fields) => {
    const { id } = await developer.teams.create(fields)
    return `${at('teams', id)}?done=founded`
  })
  post('', own, requestTeamForm, async ({ developer, at }, fields) => {
    await developer.teams.request(fields)
    return `${at()}?done=asked`
  })
  post('', own, withdrawTeamForm, async ({ developer, at }) => {
    await developer.teams.withdrawRequest()
    return `${at()}?done=retracted`
  })
  get('/teams/:team', overview)
  post('/teams/:team', overview, appForm, async ({ developer, params, at }, fields) => {
    const { id } = await developer.apps.create({ team: params.team!, ...fields })
    return `${at('teams', params.team!, 'apps', id)}?done=created`
  })
}
