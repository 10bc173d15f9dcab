import type { Database } from '../../../prisma/client.ts'
import type { AskedScope } from '../../../routers/approvals/asked-scopes.ts'
import { listAskedScopes, withPurposes } from '../../../routers/approvals/asked-scopes.ts'
import type { Listed } from '../../../routers/approvals/child-requests.ts'
import { appsOfChildren } from '../../../routers/approvals/child-requests.ts'
import { appsOfClub } from '../../../routers/approvals/club-approvals.ts'
import type { AppView } from '../../browser/pages/views.ts'
import { appViews } from './app-views.ts'

export const PAGE = 20

/** An app on which a club decides, or somebody for a child. */
export interface ClubEntry {
  id: string
  club: string
  app: AppView
  state: 'requested' | 'approved' | 'refused' | 'withdrawn' | 'undecided'
  reason: string | null
  requestedAt: Date | null
  decidedAt: Date | null
  scopes: AskedScope[]
  child?: EntryOfChild
}

interface EntryOfChild {
  id: string
  name: string
  clubName: string
  version: number
  isUsed: boolean
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
  const found = await findApps(db, shown)
  const entries = shown.flatMap(({ app: id, state, ...row }): ClubEntry[] => {
    const of = found.get(id)
    return of
      ? [{ id, club, app: of.view, ...row, state: state ?? 'undecided', scopes: listAskedScopes(of.clients) }]
      : []
  })
  return { entries, more: rows.length > PAGE }
}

/** The same of the apps of children. */
export async function childEntries(db: Database, { page = 0, ...listed }: Listed & { page?: number }) {
  const rows = await appsOfChildren(db, { ...listed, limit: PAGE + 1, offset: page * PAGE })
  const shown = rows.slice(0, PAGE)
  const found = await findApps(db, shown)
  const entries = shown.flatMap(({ app: id, state, scopes, ...row }): ClubEntry[] => {
    const { child, childName: name, club, clubName, version, isUsed, ...rest } = row
    const of = found.get(id)
    if (!of) return []
    const one: ClubEntry = {
      id,
      club,
      app: of.view,
      ...rest,
      state: state ?? 'undecided',
      scopes: withPurposes(scopes, of.clients),
    }
    return [{ ...one, child: { id: child, name, clubName, version, isUsed } }]
  })
  return { entries, more: rows.length > PAGE }
}

async function findApps(db: Database, rows: readonly { app: string }[]) {
  const apps = await db.app.findMany({
    where: { id: { in: rows.map(({ app }) => app) } },
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
  return new Map(apps.map((one, at) => [one.id, { view: views[at]!, clients: one.clients }]))
}
