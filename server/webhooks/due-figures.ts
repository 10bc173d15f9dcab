import type { Database } from '../../prisma/client.ts'
import { int, nullable, statement } from '../../prisma/pg/statement.ts'
import { AT_ONCE } from '../../routers/webhooks/deliveries/retry.ts'

/** Bound what a look reads: 20 ms for all of them. */
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
        floor(extract(epoch FROM $1::timestamptz - min(greatest(due.at, failed.at))))::int8 AS oldest
      FROM (SELECT id FROM pending LIMIT ${MAX_SUBSCRIPTIONS}) found
        JOIN "Subscription" ON "Subscription".id = found.id AND "endedAt" IS NULL CROSS JOIN LATERAL
        (SELECT count(*), min("nextAttemptAt") AS at FROM
          (SELECT nullif("nextAttemptAt", ${AT_ONCE}) AS "nextAttemptAt" FROM "Delivery" WHERE state = 'pending' AND lease IS NULL
             AND "subscriptionId" = found.id AND "nextAttemptAt" <= $1::timestamptz
           ORDER BY "Delivery"."nextAttemptAt" LIMIT ${MAX_OF_EACH}) first) due CROSS JOIN LATERAL
        (SELECT max("lastAttemptAt") AS at FROM "Delivery" WHERE state = 'pending' AND attempts > 0
           AND "subscriptionId" = found.id) failed WHERE due.count > 0`,
    { count: int, oldest: nullable(int) },
  ),
}

/**
 * How many deliveries are due, up to a hundred of each subscription, and for how long the oldest waits for a worker, in
 * seconds: since it was due or, where its receiver makes it wait, since the last attempt there, which a worker follows by
 * another within 75 s. One that somebody tries again counts, and has not waited.
 */
export async function dueFigures(db: Database, now: number) {
  const [row] = await db.execute(statements.due, [new Date(now).toISOString()])
  return { count: row!.count, oldestSeconds: Math.max(0, row!.oldest ?? 0) }
}
