import type { Database } from '../../../prisma/client.ts'
import type { AskedScope } from '../../../routers/approvals/asked-scopes.ts'
import { listAskedScopes } from '../../../routers/approvals/asked-scopes.ts'
import { appsOfClub } from '../../../routers/approvals/club-approvals.ts'
import type { AppView } from '../../browser/pages/views.ts'
import { appViews } from './app-views.ts'

export const PAGE = 20

export interface ClubEntry {
  id: string
  app: AppView
  state: 'requested' | 'approved' | 'refused' | 'withdrawn' | 'undecided'
  reason: string | null
  requestedAt: Date | null
  decidedAt: Date | null
  scopes: AskedScope[]
}

interface Wanted {
  now: number
  page?: number
  /** Alone. */
  app?: string
}

/** A page of a club's apps, and whether there are more. */
export async function clubEntries(db: Database, club: string, { now, page = 0, app }: Wanted) {
  const rows = await appsOfClub(db, club, {
    now,
    limit: PAGE + 1,
    offset: page * PAGE,
    ...(app !== undefined && { app }),
  })
  const shown = rows.slice(0, PAGE)
  const apps = await db.app.findMany({
    where: { id: { in: shown.map(({ app }) => app) } },
    select: {
      id: true,
      name: true,
      homepage: true,
      description: true,
      team: { select: { name: true } },
      clients: { where: { environment: 'production', state: 'active' }, select: { scopes: true, purpose: true } },
    },
  })
  const views = await appViews(
    db,
    apps.map(({ team, clients: _, ...of }) => ({ name: of.name, app: of, team })),
  )
  const found = new Map(apps.map((one, at) => [one.id, { view: views[at]!, clients: one.clients }]))
  const entries = shown.flatMap(({ app: id, state, ...row }): ClubEntry[] => {
    const of = found.get(id)
    return of ? [{ id, app: of.view, ...row, state: state ?? 'undecided', scopes: listAskedScopes(of.clients) }] : []
  })
  return { entries, more: rows.length > PAGE }
}
