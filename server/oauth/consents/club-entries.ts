import type { Database } from '../../../prisma/client.ts'
import type { AskedScope } from '../../../routers/approvals/asked-scopes.ts'
import { listAskedScopes, withPurposes } from '../../../routers/approvals/asked-scopes.ts'
import type { Listed } from '../../../routers/approvals/child-requests.ts'
import { appsOfChildren } from '../../../routers/approvals/child-requests.ts'
import type { AppOfClub } from '../../../routers/approvals/club-approvals.ts'
import { appsOfClub } from '../../../routers/approvals/club-approvals.ts'
import { labelItems } from '../../../routers/kernel/labels.ts'
import type { AppView } from '../../browser/pages/views.ts'
import { appViews } from './app-views.ts'

export const PAGE = 20
/** Entries from which one that is shown alone is distinguished. */
const MAX_OTHERS = 200

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
export async function clubEntries(db: Database, club: string, { page = 0, ...wanted }: Wanted) {
  const rows = await appsOfClub(db, club, { ...wanted, ...toRange(page) })
  return toEntries(db, rows, (_, clients) => ({ club, scopes: listAskedScopes(clients) }))
}

/** The same of the apps of children. */
export async function childEntries(db: Database, { page = 0, ...listed }: Listed & { page?: number }) {
  const rows = await appsOfChildren(db, { ...listed, ...toRange(page) })
  const others = listed.one ? await appsOfChildren(db, { ...listed, one: undefined, limit: MAX_OTHERS, offset: 0 }) : []
  const labels = labelRows([...rows, ...others])
  return toEntries(db, rows, ({ child: id, club, version, isUsed, scopes }, clients) => {
    const child: EntryOfChild = { id, name: labels.child(id), clubName: labels.club(club), version, isUsed }
    return { club, scopes: withPurposes(scopes, clients), child }
  })
}

/** Equal names of children are followed by the year of birth, then by a club. */
function labelRows(rows: Awaited<ReturnType<typeof appsOfChildren>>) {
  const clubs = labelItems(rows.map(({ club: id, clubName: name }) => ({ id, name })))
  const named = rows.map(({ child: id, childName: name, ...row }) => ({ ...row, id, name }))
  const children = labelItems(named, ({ year, club }) => [year, clubs.get(club)!])
  return { child: (id: string) => children.get(id)!, club: (id: string) => clubs.get(id)! }
}

const toRange = (page: number) => ({ limit: PAGE + 1, offset: page * PAGE })

/** With what is shown of the apps; one that was deleted meanwhile is left out. */
async function toEntries<Row extends AppOfClub, More>(
  db: Database,
  rows: readonly Row[],
  readMore: (row: Row, clients: Parameters<typeof listAskedScopes>[0]) => More,
) {
  const shown = rows.slice(0, PAGE)
  const found = await findApps(db, shown)
  const entries = shown.flatMap((row) => {
    const { app: id, state, reason, requestedAt, decidedAt } = row
    const of = found.get(id)
    const own = { id, state: state ?? ('undecided' as const), reason, requestedAt, decidedAt }
    return of ? [{ ...own, app: of.view, ...readMore(row, of.clients) }] : []
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
