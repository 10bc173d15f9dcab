import { teamOverview } from './pages/team.ts'
import { teamsPage } from './pages/teams.ts'
import type { Routes, Show, Visit } from './visit.ts'

/** The team of the address. Throws 404 for one that the person is not in. */
export const teamOf = ({ developer, params }: Visit) => developer.teams.get({ team: params.team! })

const overview: Show = async (visit) => teamOverview(visit, await teamOf(visit))

export function teamPages({ get, post }: Routes) {
  get('', async (visit) => {
    const { items: teams } = await visit.developer.teams.list()
    const { items: invitations } = await visit.developer.invitations.list()
    return teamsPage(visit, teams, invitations)
  })
  get('/teams/:team', overview)
  post('/teams/:team/apps', overview, async ({ developer, params, at }, form) => {
    const wish = { name: form.get('name') ?? '', provider: form.get('provider') ?? '' }
    const { id } = await developer.apps.create({ team: params.team!, ...wish })
    return `${at('teams', params.team!, 'apps', id)}?done=created`
  })
}
