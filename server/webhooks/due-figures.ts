import type { Database } from '../../prisma/client.ts'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import { int, nullable, statement } from '../../prisma/pg/statement.ts'

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
        floor(extract(epoch FROM $1::timestamptz - min(due.at) FILTER (WHERE found.id <> ALL($2::text[]))))::int8 AS oldest
      FROM (SELECT id FROM pending LIMIT ${MAX_SUBSCRIPTIONS}) found
        JOIN "Subscription" ON "Subscription".id = found.id AND "endedAt" IS NULL CROSS JOIN LATERAL
        (SELECT count(*), min("nextAttemptAt") AS at FROM
          (SELECT "nextAttemptAt" FROM "Delivery" WHERE state = 'pending' AND lease IS NULL
             AND "subscriptionId" = found.id AND "nextAttemptAt" <= $1::timestamptz
           ORDER BY "nextAttemptAt" LIMIT ${MAX_OF_EACH}) first) due`,
    { count: int, oldest: nullable(int) },
  ),
}

/**
 * How many deliveries are due, up to a hundred of each subscription, and for how long the oldest has been, in seconds.
 * Those of `failing` subscriptions count, but may be as old as they like: their receivers make them wait.
 */
export async function dueFigures(db: Database, now: number, failing: readonly string[]) {
  const [row] = await db.execute(statements.due, [new Date(now).toISOString(), arrayOf(failing)])
  return { count: row!.count, oldestSeconds: Math.max(0, row!.oldest ?? 0) }
}
