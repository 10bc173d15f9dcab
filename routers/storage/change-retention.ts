import type { Database } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import type { Statement } from '../../prisma/pg/statement.ts'
import { instant, int, statement, text, texts } from '../../prisma/pg/statement.ts'
import { sqlState } from '../kernel/database-errors.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { DAY_MS } from '../kernel/time.ts'
import { sumCollections } from './sum-retention.ts'
import { lockStore } from './usage.ts'

/** A reader that has been away for longer begins again. */
export const CHANGE_DAYS = 30
/** Newest changes of a store that are kept: an app that writes and removes keys for a month would fill the disk. */
export const MAX_CHANGES = 100_000

/** Stores per portion. */
const STORES = 500

const stores = {
  old: statement(
    'storage_changes_old',
    `SELECT DISTINCT "appId" AS app, "clubId" AS club FROM
      (SELECT "appId", "clubId" FROM "StorageChange" WHERE at <= $before::timestamptz AND NOT EXISTS (
        SELECT FROM unnest($apps::text[], $clubs::text[]) AS failed (app, club) WHERE app = "appId" AND club = "clubId")
      LIMIT ${STORES}) change`,
    { before: instant, apps: texts, clubs: texts },
    { app: text, club: text },
  ),
  changed: statement(
    'storage_changes_new',
    `SELECT "appId" AS app, "clubId" AS club, changes FROM "StorageUsage" WHERE changes > thinned AND ("appId", "clubId") > ($app, $club)
      ORDER BY "appId", "clubId" LIMIT ${STORES}`,
    { app: text, club: text },
    { app: text, club: text, changes: int },
  ),
}

interface Store {
  app: string
  club: string
}

const OF_STORE = '"appId" = $app AND "clubId" = $club'
/** Beside a ctid: the node of Citus, and no condition for which an index looks better and reads the store for each ctid. */
const OF_CLUB = '"clubId" = $club'
const store = { app: text, club: text }
const removed = { removed: int }

/** Readers that have not come so far begin again. */
const removing = (condition: string) =>
  `WITH gone AS (DELETE FROM "StorageChange" WHERE ${OF_CLUB} AND ctid = ANY (ARRAY(
      SELECT ctid FROM "StorageChange" WHERE ${OF_STORE} AND ${condition} ORDER BY number LIMIT $limit)) RETURNING number),
    raised AS (UPDATE "StorageUsage" SET horizon = greatest(horizon, (SELECT max(number) FROM gone))
      WHERE ${OF_STORE} AND EXISTS (SELECT FROM gone))
  SELECT count(*) AS removed FROM gone`

/** Exported for the test of their plans. */
export const statements = {
  /** One scan: as a join, a plan without statistics reads the store's changes again for each of them (44 s with 98,000). */
  thin: statement(
    'storage_changes_thin',
    `WITH gone AS (DELETE FROM "StorageChange" WHERE ${OF_CLUB} AND ctid = ANY (ARRAY(
        SELECT ctid FROM (
          SELECT ctid, lead(true, 1, false) OVER (PARTITION BY owner, collection, key ORDER BY number) AS "isOld"
          FROM "StorageChange" WHERE ${OF_STORE}
        ) change WHERE "isOld" LIMIT $limit)) RETURNING 1)
      SELECT count(*) AS removed FROM gone`,
    { ...store, limit: int },
    removed,
  ),
  removePast: statement(
    'storage_changes_remove_past',
    removing('at <= $before'),
    { ...store, before: instant, limit: int },
    removed,
  ),
  removeUpTo: statement(
    'storage_changes_remove_up_to',
    removing('number <= $number'),
    { ...store, number: int, limit: int },
    removed,
  ),
  /** The newest change that is one too many. */
  beyond: statement(
    'storage_changes_beyond',
    `SELECT number FROM "StorageChange" WHERE ${OF_STORE} ORDER BY number DESC OFFSET $most LIMIT 1`,
    { ...store, most: int },
    { number: int },
  ),
  finish: statement(
    'storage_changes_finish',
    `UPDATE "StorageUsage" SET thinned = $changes WHERE ${OF_STORE} RETURNING 1 AS one`,
    { ...store, changes: int },
    { one: int },
  ),
}

/** The last store that the sweep of `now` has done. It comes to each once: what is written meanwhile waits for the next sweep. */
interface Pass extends Store {
  now: number
  failed: Store[]
  failure: unknown
}
const passes = new WeakMap<Database, Pass>()

function readPass(db: Database, now: number): Pass {
  const known = passes.get(db)
  if (known?.now === now) return known
  const pass: Pass = { now, app: '', club: '', failed: [], failure: undefined }
  passes.set(db, pass)
  return pass
}

/**
 * Leaves the last change of each key, of the last 30 days, and at most 100,000 of a store; and sums collections from before their
 * sums. Returns the number of rows that it removed or updated; 0 when nothing is left to do. A store that fails does not keep
 * the others from being swept: its error is thrown when nothing else is left.
 */
export async function removeOldChanges(
  db: Database,
  now: number,
  limit = PORTION,
  most = MAX_CHANGES,
): Promise<number> {
  const before = now - CHANGE_DAYS * DAY_MS
  const pass = readPass(db, now)
  const { failed } = pass
  let left = limit
  const attempt = async (store: Store, remove: () => Promise<void>) =>
    remove().catch((error) => {
      // Without the database, every other store would fail too.
      if (sqlState(error) === undefined) throw error
      pass.failure ??= error
      failed.push(store)
    })
  const [apps, clubs] = [failed.map(({ app }) => app), failed.map(({ club }) => club)]
  for (const store of await db.execute(stores.old, { before, apps, clubs })) {
    if (left <= 0) break
    await attempt(store, async () => {
      left -= await removeLocked(db, store, statements.removePast, { before, limit: left })
    })
  }
  for (const { changes, ...store } of await db.execute(stores.changed, { app: pass.app, club: pass.club })) {
    if (left <= 0) break
    await attempt(store, async () => {
      // Thinning sorts all that it finds: 0.5 s for a million.
      left -= await removeBeyond(db, store, 10 * most, left)
      // It locks no usage row, so that writers go on.
      if (left > 0) left -= (await db.execute(statements.thin, { ...store, limit: left }))[0]!.removed
      if (left > 0) left -= await removeBeyond(db, store, most, left)
      // A store with more to do is the first of the next portion.
      if (left <= 0) return
      left -= (await db.execute(statements.finish, { ...store, changes })).length
      Object.assign(pass, store)
    })
    if (failed.includes(store)) Object.assign(pass, store)
  }
  const rows = limit - left + (left > 0 ? await sumCollections(db) : 0)
  if (rows > 0) return rows
  passes.delete(db)
  if (pass.failure !== undefined) throw pass.failure
  return 0
}

async function removeBeyond(db: Database, store: Store, most: number, limit: number): Promise<number> {
  const [newest] = await db.execute(statements.beyond, { ...store, most })
  return newest ? removeLocked(db, store, statements.removeUpTo, { number: newest.number, limit }) : 0
}

/** The usage row is locked first, as the removal of a store does. */
const removeLocked = <Bound>(
  db: Database,
  store: Store,
  statement: Statement<Store & Bound, { removed: number }>,
  bound: Bound,
): Promise<number> =>
  db.inTransaction(async (client) => {
    await lockStore(client, store)
    return (await executeIn(client, statement, { ...store, ...bound }))[0]!.removed
  })
