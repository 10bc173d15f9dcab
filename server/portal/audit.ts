import type { Routes } from './page-request.ts'
import { auditPage } from './pages/audit.ts'
import { PAGE_ROWS, readOffset } from './pages/pager.ts'
import { readTeam } from './teams.ts'

export function auditPages({ get }: Routes) {
  get('/teams/:team/audit', async (request) => {
    const team = await readTeam(request)
    const query = { team: team.id, limit: PAGE_ROWS, offset: readOffset(request) }
    return auditPage(request, team, await request.developer.audit.list(query))
  })
}
