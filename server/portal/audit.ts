import type { Routes } from './page-request.ts'
import { auditPage } from './pages/audit.ts'
import { offsetOf, PAGE_ROWS } from './pages/pager.ts'
import { teamOf } from './teams.ts'

export function auditPages({ get }: Routes) {
  get('/teams/:team/audit', async (request) => {
    const team = await teamOf(request)
    const query = { team: team.id, limit: PAGE_ROWS, offset: offsetOf(request) }
    return auditPage(request, team, await request.developer.audit.list(query))
  })
}
