import type { Database } from '../../../prisma/client.ts'
import { appsOfClub } from '../../../routers/approvals/club-approvals.ts'
import type { ConsentScope } from '../../../routers/kernel/identity-scopes.ts'
import { isConsentScope } from '../../../routers/kernel/identity-scopes.ts'
import type { AppView } from '../../browser/pages/views.ts'
import { appViews } from './app-views.ts'
import { isFor } from './authorize-scopes.ts'

export const PAGE = 20

export interface ClubEntry {
  id: string
  app: AppView
  state: 'requested' | 'approved' | 'refused' | 'withdrawn' | 'undecided'
  reason: string | null
  requestedAt: Date | null
  decidedAt: Date | null
  /** What the app's clients may ask members of a club for, and what for. */
  scopes: { scope: ConsentScope; purposes: string[] }[]
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
    return of ? [{ id, app: of.view, ...row, state: state ?? 'undecided', scopes: listScopes(of.clients) }] : []
  })
  return { entries, more: rows.length > PAGE }
}

function listScopes(clients: readonly { scopes: string[]; purpose: unknown }[]) {
  const scopes = [...new Set(clients.flatMap((client) => client.scopes))].filter(isConsentScope).filter(isFor('club'))
  const purposes = (scope: string) =>
    clients.flatMap(({ purpose }) => (purpose as Record<string, string> | null)?.[scope] || [])
  return scopes.map((scope) => ({ scope, purposes: [...new Set(purposes(scope))] }))
}
