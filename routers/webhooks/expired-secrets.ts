import type { Database } from '../../prisma/client.ts'
import { instant, int, statement } from '../../prisma/pg/statement.ts'
import { PORTION } from '../kernel/housekeeping.ts'

/** Clears those that ended by `until`, at most `limit`, and returns their number. By ctid, as `removal` does. */
const clearing = (table: 'App' | 'Subscription') =>
  statement(
    `clear_former_${table}`,
    `WITH cleared AS (UPDATE "${table}" SET "formerSecret" = NULL, "formerUntil" = NULL WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM "${table}" WHERE "formerUntil" <= $until::timestamptz LIMIT $limit::int8
        FOR NO KEY UPDATE SKIP LOCKED)) RETURNING 1)
      SELECT count(*) AS cleared FROM cleared`,
    { until: instant, limit: int },
    { cleared: int },
  )

const ofApps = clearing('App')
const ofSubscriptions = clearing('Subscription')

/** Clears former secrets that no longer sign, at most `limit`, and returns their number. */
export async function clearExpiredSecrets(db: Database, now: number, limit = PORTION): Promise<number> {
  const [apps] = await db.execute(ofApps, { until: now, limit })
  const [subscriptions] = await db.execute(ofSubscriptions, { until: now, limit: limit - apps!.cleared })
  return apps!.cleared + subscriptions!.cleared
}
