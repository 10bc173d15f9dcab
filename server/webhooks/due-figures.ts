import type { Database } from '../../prisma/client.ts'
import { instant, int, nullable, statement } from '../../prisma/pg/statement.ts'
import { AT_ONCE_CLAIMED } from '../../routers/webhooks/deliveries/retry.ts'

/** Limits a scrape's reads: 20 ms for all of them. */
const MAX_SUBSCRIPTIONS = 1_000
const MAX_OF_EACH = 100

const statements = {
  /** Jumps through the index from subscription to subscription, as polls do. */
  due: statement(
    'deliveries_due_figures',
    `WITH RECURSIVE pending AS (
        (SELECT "subscriptionId" AS id FROM "Delivery"
         WHERE state = 'pending' AND lease IS NULL ORDER BY "subscriptionId" LIMIT 1)
        UNION ALL
        SELECT following.id FROM pending CROSS JOIN LATERAL
          (SELECT "subscriptionId" AS id FROM "Delivery"
           WHERE state = 'pending' AND lease IS NULL AND "subscriptionId" > pending.id ORDER BY "subscriptionId" LIMIT 1) following)
      SELECT coalesce(sum(due.count), 0)::int8 AS count,
        floor(extract(epoch FROM $now::timestamptz - min(greatest(due.at, failed.at))))::int8 AS oldest
      FROM (SELECT id FROM pending LIMIT ${MAX_SUBSCRIPTIONS}) found
        JOIN "Subscription" ON "Subscription".id = found.id AND "endedAt" IS NULL CROSS JOIN LATERAL
        (SELECT count(*), min("nextAttemptAt") AS at FROM
          (SELECT CASE WHEN "nextAttemptAt" > ${AT_ONCE_CLAIMED} THEN "nextAttemptAt" END AS "nextAttemptAt"
           FROM "Delivery" WHERE state = 'pending' AND lease IS NULL
             AND "subscriptionId" = found.id AND "nextAttemptAt" <= $now::timestamptz
           ORDER BY "Delivery"."nextAttemptAt" LIMIT ${MAX_OF_EACH}) first) due CROSS JOIN LATERAL
        (SELECT max("lastAttemptAt") AS at FROM "Delivery" WHERE state = 'pending' AND attempts > 0
           AND "subscriptionId" = found.id) failed WHERE due.count > 0`,
    { now: instant },
    { count: int, oldest: nullable(int) },
  ),
}

/**
 * Counts due deliveries, up to a hundred per subscription, and the seconds that the oldest has been waiting for a worker: since
 * it was due or, when its receiver delays it, since the last attempt there, after which a worker makes another within 75 s. A
 * manually retried delivery counts, with no waiting time.
 */
export async function dueFigures(db: Database, now: number) {
  const [row] = await db.execute(statements.due, { now })
  return { count: row!.count, oldestSeconds: Math.max(0, row!.oldest ?? 0) }
}
