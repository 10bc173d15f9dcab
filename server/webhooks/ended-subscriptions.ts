import type { Database } from '../../prisma/client.ts'
import { int, statement } from '../../prisma/pg/statement.ts'
import { PORTION } from '../../routers/housekeeping.ts'
import { DAY_SECONDS } from '../../routers/time.ts'

const removeEnded = statement(
  'subscriptions_remove_ended',
  `WITH old AS MATERIALIZED (SELECT id FROM "Subscription" WHERE "endedAt" <= $1::timestamptz
        AND NOT EXISTS (SELECT FROM "Delivery" WHERE "subscriptionId" = "Subscription".id)
      ORDER BY "endedAt" LIMIT $2::int8 FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM "Subscription" subscription USING old WHERE subscription.id = old.id RETURNING 1)
    SELECT count(*) AS removed FROM gone`,
  { removed: int },
)

/**
 * Removes subscriptions that ended `keepDays` ago, at most `limit`, and returns their number. Their deliveries go with the
 * events, earlier or later: a subscription stays for the last of them.
 */
export async function removeEndedSubscriptions(
  db: Database,
  now: number,
  { keepDays, limit = PORTION }: { keepDays: number; limit?: number },
): Promise<number> {
  const until = new Date(now - keepDays * DAY_SECONDS * 1000).toISOString()
  const [row] = await db.execute(removeEnded, [until, String(limit)])
  return row!.removed
}
