import type { Database, Transaction } from '../../prisma/client.ts'
import { execute } from '../../prisma/pg/execute.ts'
import { instant, int, statement, text } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { PORTION } from '../kernel/housekeeping.ts'

const statements = {
  /** With the alarm as if sent: whoever removes a subscription gets no mail about its end. */
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
 * Before the removal of a subscription, which takes its deliveries along: ends it where it has more than a portion of them, so that
 * none follow, and returns whether it has.
 */
export const endIfBusy = async (on: Database | Transaction, id: string, now: number, limit = PORTION) => {
  const ended = await execute(on, statements.end, { id, now, limit })
  return ended.length > 0
}

/** Removes the deliveries of an ended subscription but for a portion, in portions. They stay removed if the rest fails. */
export async function removeMostDeliveries(db: Database, id: string, limit = PORTION): Promise<void> {
  for (let removed = 1; removed > 0; ) {
    const [row] = await retryingDeadlocks(() => db.execute(statements.removePortion, { id, limit }))
    removed = row!.removed
  }
}
