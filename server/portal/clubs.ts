import { readApp } from './apps.ts'
import type { Routes } from './page-request.ts'
import { clubsPage } from './pages/clubs.ts'
import { PAGE_ROWS, readOffset } from './pages/pager.ts'

export function clubPages({ get }: Routes) {
  get('/teams/:team/apps/:app/clubs', async (request) => {
    const { team, app } = await readApp(request)
    const query = { app: app.id, limit: PAGE_ROWS, offset: readOffset(request) }
    return clubsPage(request, { team, app }, await request.developer.apps.clubs(query))
  })
}
