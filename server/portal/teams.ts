import { offsetOf } from './pages/pager.ts'
import { APPS_SHOWN, CLIENTS_SHOWN, teamOverview } from './pages/team.ts'
import { teamsPage } from './pages/teams.ts'
import type { Routes, Show, Visit } from './visit.ts'

/** Throws 404 for a team that the person is not in. */
export const teamOf = ({ developer, params }: Visit) => developer.teams.summary({ team: params.team! })

const overview: Show = async (visit) => {
  const { developer } = visit
  const facts = await teamOf(visit)
  const [team, offset] = [facts.id, offsetOf(visit)]
  const [apps, providers] = await Promise.all([
    developer.apps.list({ team, limit: APPS_SHOWN, offset }),
    developer.apps.providers({ team }),
  ])
  const shown = [...apps.items.map(({ id }) => id), ...(offset === 0 ? [null] : [])]
  const clients = await developer.clients.list({ team, apps: shown, limit: CLIENTS_SHOWN })
  return teamOverview(visit, { team: facts, apps, clients: clients.items, providers: providers.items })
}

export function teamPages({ get, post }: Routes) {
  get('', async (visit) => {
    const { items: teams } = await visit.developer.teams.list()
    const { items: invitations } = await visit.developer.invitations.list()
    return teamsPage(visit, teams, invitations)
  })
  get('/teams/:team', overview)
  post('/teams/:team/apps', overview, async ({ developer, params, at }, form) => {
    const input = { name: form.get('name') ?? '', provider: form.get('provider') ?? '' }
    const { id } = await developer.apps.create({ team: params.team!, ...input })
    return `${at('teams', params.team!, 'apps', id)}?done=created`
  })
}
