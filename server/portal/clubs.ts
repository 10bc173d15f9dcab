import { appOf } from './apps.ts'
import { clubsPage } from './pages/clubs.ts'
import { offsetOf, PAGE_ROWS } from './pages/pager.ts'
import type { Routes } from './visit.ts'

export function clubPages({ get }: Routes) {
  get('/teams/:team/apps/:app/clubs', async (visit) => {
    const { team, app } = await appOf(visit)
    const query = { app: app.id, limit: PAGE_ROWS, offset: offsetOf(visit) }
    return clubsPage(visit, { team, app }, await visit.developer.apps.clubs(query))
  })
}
