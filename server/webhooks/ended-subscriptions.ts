import type { Database } from '../../prisma/client.ts'
import { removal } from '../../prisma/pg/removal.ts'
import { PORTION } from '../../routers/kernel/housekeeping.ts'
import { DAY_MS } from '../../routers/kernel/time.ts'

const removeEnded = removal({
  name: 'subscriptions_remove_ended',
  table: '"Subscription"',
  time: '"endedAt"',
  condition: 'NOT EXISTS (SELECT FROM "Delivery" WHERE "subscriptionId" = "Subscription".id)',
})

/**
 * Removes subscriptions that ended `keepDays` ago, at most `limit`, and returns their number. Their deliveries are removed with
 * the events, earlier or later: a subscription stays until its last one is gone.
 */
export async function removeEndedSubscriptions(
  db: Database,
  now: number,
  { keepDays, limit = PORTION }: { keepDays: number; limit?: number },
): Promise<number> {
  return removeEnded(db, now - keepDays * DAY_MS, limit)
}
