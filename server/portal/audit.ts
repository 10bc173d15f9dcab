import { auditPage } from './pages/audit.ts'
import { offsetOf, PAGE_ROWS } from './pages/pager.ts'
import { teamOf } from './teams.ts'
import type { Routes } from './visit.ts'

export function auditPages({ get }: Routes) {
  get('/teams/:team/audit', async (visit) => {
    const team = await teamOf(visit)
    const query = { team: team.id, limit: PAGE_ROWS, offset: offsetOf(visit) }
    return auditPage(visit, team, await visit.developer.audit.list(query))
  })
}
