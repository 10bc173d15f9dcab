import type { Database } from '../../prisma/client.ts'
import { instant, int, statement, text } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { PORTION } from '../kernel/housekeeping.ts'

const statements = {
  /** Whoever removes it needs no mail about its end. */
  end: statement(
    'subscription_end_busy',
    `UPDATE "Subscription" SET "endedAt" = coalesce("endedAt", $now::timestamptz), alarm = 'ended'
      WHERE id = $id AND EXISTS (SELECT FROM "Delivery" WHERE "subscriptionId" = $id OFFSET $limit::int8)
      RETURNING id`,
    { id: text, now: instant, limit: int },
    { id: text },
  ),
  removePortion: statement(
    'subscription_remove_deliveries',
    `WITH gone AS (DELETE FROM "Delivery" WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM "Delivery" WHERE "subscriptionId" = $id OFFSET $limit::int8 LIMIT $limit::int8 FOR UPDATE SKIP LOCKED))
        RETURNING 1)
      SELECT count(*) AS removed FROM gone`,
    { id: text, limit: int },
    { removed: int },
  ),
}

/**
 * Before the removal of a subscription, which takes its deliveries along: where it has more than a portion of them, ends it, so that
 * none follow, and removes the others, so that no statement takes long. What was removed stays so if the rest fails.
 */
export async function removeMostDeliveries(db: Database, id: string, now: number, limit = PORTION): Promise<void> {
  const ended = await retryingDeadlocks(() => db.execute(statements.end, { id, now, limit }))
  for (let removed = ended.length; removed > 0; ) {
    const [row] = await retryingDeadlocks(() => db.execute(statements.removePortion, { id, limit }))
    removed = row!.removed
  }
}
