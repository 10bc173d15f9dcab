import type { ClientBase } from 'pg'
import type { Database } from '../../prisma/client.ts'
import { instant, statement, text } from '../../prisma/pg/statement.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { DAY_MS } from '../kernel/time.ts'
import { sumCollections } from './sum-retention.ts'

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
      (SELECT "appId", "clubId" FROM "StorageChange" WHERE at <= $before::timestamptz LIMIT ${STORES}) change`,
    { before: instant },
    { app: text, club: text },
  ),
  changed: statement(
    'storage_changes_new',
    `SELECT "appId" AS app, "clubId" AS club, changes::text FROM "StorageUsage" WHERE changes > thinned LIMIT ${STORES}`,
    {},
    { app: text, club: text, changes: text },
  ),
}

interface Store {
  app: string
  club: string
}

const OF_STORE = '"appId" = $1 AND "clubId" = $2'
/** Beside a ctid: the node of Citus, and no condition for which an index looks better and reads the store for each ctid. */
const OF_CLUB = '"clubId" = $2'

/** Exported for the test of their plans. */
export const statements = {
  /** One scan: as a join, a plan without statistics reads the store's changes again for each of them (44 s with 98,000). */
  thin: `DELETE FROM "StorageChange" WHERE ${OF_CLUB} AND ctid = ANY (ARRAY(
      SELECT ctid FROM (
        SELECT ctid, lead(true, 1, false) OVER (PARTITION BY owner, collection, key ORDER BY number) AS "isOld"
        FROM "StorageChange" WHERE ${OF_STORE}
      ) change WHERE "isOld" LIMIT $3))`,
  removeUpTo: (condition: 'at <= $3' | 'number <= $3') =>
    `WITH gone AS (DELETE FROM "StorageChange" WHERE ${OF_CLUB} AND ctid = ANY (ARRAY(
        SELECT ctid FROM "StorageChange" WHERE ${OF_STORE} AND ${condition} ORDER BY number LIMIT $4)) RETURNING number),
      raised AS (UPDATE "StorageUsage" SET horizon = greatest(horizon, (SELECT max(number) FROM gone))
        WHERE ${OF_STORE} AND EXISTS (SELECT FROM gone))
    SELECT count(*)::int AS removed FROM gone`,
}

/**
 * Leaves the last change of each key, of the last 30 days, and at most 100,000 of a store; and sums collections from before their
 * sums. Returns the number of rows that it removed or updated; 0 when nothing is left to do.
 */
export async function removeOldChanges(
  db: Database,
  now: number,
  limit = PORTION,
  most = MAX_CHANGES,
): Promise<number> {
  const before = new Date(now - CHANGE_DAYS * DAY_MS)
  let left = limit
  for (const store of await db.execute(stores.old, { before })) {
    if (left > 0)
      left -= await db.inTransaction((client) => removeUpTo(client, store, 'at <= $3', before.toISOString(), left))
  }
  for (const { changes, ...store } of await db.execute(stores.changed, {})) {
    if (left <= 0) break
    left -= await db.inTransaction((client) => thin(client, store, left))
    if (left > 0) left -= await db.inTransaction((client) => removeBeyond(client, store, most, left))
    if (left > 0) left -= await db.inTransaction((client) => finish(client, store, changes))
  }
  return limit - left + (left > 0 ? await sumCollections(db) : 0)
}

/** Removes changes after which each key has another one. It locks no usage row, so that writers go on. */
async function thin(client: ClientBase, { app, club }: Store, limit: number): Promise<number> {
  return (await client.query(statements.thin, [app, club, limit])).rowCount!
}

async function removeBeyond(client: ClientBase, store: Store, most: number, limit: number): Promise<number> {
  const { rows } = await client.query<{ number: string }>(
    `SELECT number FROM "StorageChange" WHERE ${OF_STORE} ORDER BY number DESC OFFSET $3 LIMIT 1`,
    [store.app, store.club, most],
  )
  return rows[0] ? removeUpTo(client, store, 'number <= $3', rows[0].number, limit) : 0
}

/** Readers that have not come so far begin again. The usage row is locked first, as the removal of a store does. */
async function removeUpTo(
  client: ClientBase,
  { app, club }: Store,
  condition: Parameters<typeof statements.removeUpTo>[0],
  bound: string,
  limit: number,
): Promise<number> {
  await client.query(`SELECT FROM "StorageUsage" WHERE ${OF_STORE} FOR NO KEY UPDATE`, [app, club])
  const { rows } = await client.query<{ removed: number }>(statements.removeUpTo(condition), [app, club, bound, limit])
  return rows[0]!.removed
}

async function finish(client: ClientBase, { app, club }: Store, changes: string): Promise<number> {
  const update = `UPDATE "StorageUsage" SET thinned = $3 WHERE ${OF_STORE}`
  return (await client.query(update, [app, club, changes])).rowCount!
}
