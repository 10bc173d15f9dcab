import type { ClientBase } from 'pg'
import type { Database } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { instant, int, statement, text } from '../../prisma/pg/statement.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { expiry } from '../kernel/page.ts'
import { lockStore } from './usage.ts'

/** Stores per portion. */
const STORES = 500

interface Removed {
  app: string
  club: string
  until: Date
  limit: number
}

/** Exported for the test of their plans. */
export const statements = {
  stores: statement(
    'storage_requests_old',
    `SELECT DISTINCT "appId" AS app, "clubId" AS club FROM
      (SELECT "appId", "clubId" FROM "StorageRequest" WHERE "createdAt" <= $until LIMIT ${STORES}) request`,
    { until: instant },
    { app: text, club: text },
  ),
  /** The club beside the ctid: the node of Citus. */
  remove: statement(
    'storage_requests_remove',
    `WITH gone AS (DELETE FROM "StorageRequest" WHERE "clubId" = $club AND ctid = ANY (ARRAY(
        SELECT ctid FROM "StorageRequest" WHERE "appId" = $app AND "clubId" = $club AND "createdAt" <= $until LIMIT $limit))
        RETURNING 1)
      SELECT count(*) AS removed FROM gone`,
    { app: text, club: text, until: instant, limit: int },
    { removed: int },
  ),
}

/** Removes the keys of stores that are older than 24 hours, at most `limit`; returns their number. */
export async function removeOldRequests(db: Database, now: number, limit = PORTION): Promise<number> {
  const until = expiry(now)
  let left = limit
  for (const store of await db.execute(statements.stores, { until })) {
    if (left > 0) left -= await db.inTransaction((client) => removeUpTo(client, { ...store, until, limit: left }))
  }
  return limit - left
}

/** The usage row is locked first, as writers and removals do. */
async function removeUpTo(client: ClientBase, { app, club, until, limit }: Removed): Promise<number> {
  await lockStore(client, { app, club })
  return (await executeIn(client, statements.remove, { app, club, until, limit }))[0]!.removed
}
