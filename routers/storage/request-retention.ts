import type { ClientBase } from 'pg'
import type { Database } from '../../prisma/client.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { expiry } from '../kernel/idempotency-key.ts'

/** Stores per portion. */
const STORES = 500

interface Store {
  app: string
  club: string
}

/** Exported for the test of their plans. */
export const statements = {
  stores: `SELECT DISTINCT "appId" AS app, "clubId" AS club FROM
    (SELECT "appId", "clubId" FROM "StorageRequest" WHERE "createdAt" <= $1 LIMIT ${STORES}) request`,
  lock: 'SELECT FROM "StorageUsage" WHERE "appId" = $1 AND "clubId" = $2 FOR NO KEY UPDATE',
  /** The club beside the ctid: the node of Citus. */
  remove: `DELETE FROM "StorageRequest" WHERE "clubId" = $2 AND ctid = ANY (ARRAY(
    SELECT ctid FROM "StorageRequest" WHERE "appId" = $1 AND "clubId" = $2 AND "createdAt" <= $3 LIMIT $4))`,
}

/** Removes the keys of stores that are older than 24 hours, at most `limit`; returns their number. */
export async function removeOldRequests(db: Database, now: number, limit = PORTION): Promise<number> {
  const until = expiry(now).toISOString()
  const { rows: stores } = await db.inTransaction((client) => client.query<Store>(statements.stores, [until]))
  let left = limit
  for (const store of stores) {
    if (left > 0) left -= await db.inTransaction((client) => removeUpTo(client, store, until, left))
  }
  return limit - left
}

/** The usage row is locked first, as writers and removals do. */
async function removeUpTo(client: ClientBase, { app, club }: Store, until: string, limit: number): Promise<number> {
  await client.query(statements.lock, [app, club])
  return (await client.query(statements.remove, [app, club, until, limit])).rowCount!
}
