import type { Database } from '../../prisma/client.ts'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import { retryingDeadlocks } from '../../routers/database-errors.ts'

/** What came of a try. */
export interface Finished {
  id: string
  /** That of the claim: without it the outcome is another worker's to write. */
  lease: string
  delivered: boolean
  /** Status of the answer; null when there was none. */
  status: number | null
  error: string | null
  answer: string | null
  /** When the next try is due, in Unix milliseconds; null when there is none. */
  next: number | null
  /** The receiver wants nothing more: its subscription ends. */
  gone: boolean
}

const MOST_ROWS = 1_000

const statements = {
  finish: {
    name: 'deliveries_finish',
    text: `WITH told AS
        (SELECT * FROM unnest($1::text[], $2::text[], $3::bool[], $4::int4[], $5::text[], $6::text[], $7::timestamptz[], $8::bool[])
         AS told (id, lease, delivered, status, error, answer, next, gone)),
      ended AS
        (UPDATE "Subscription" SET "endedAt" = $9::timestamptz FROM told, "Delivery" WHERE told.gone
           AND "Delivery".id = told.id AND "Delivery".lease = told.lease
           AND "Subscription".id = "subscriptionId" AND "endedAt" IS NULL)
      UPDATE "Delivery" SET attempts = attempts + 1, "lastStatus" = told.status, "lastError" = told.error,
        "lastAnswer" = told.answer, "nextAttemptAt" = told.next, lease = NULL, "leasedUntil" = NULL,
        state = CASE WHEN told.delivered THEN 'delivered' WHEN told.next IS NULL THEN 'failed' ELSE 'pending' END::"DeliveryState",
        "finishedAt" = CASE WHEN told.next IS NULL THEN $9::timestamptz END
      FROM told WHERE "Delivery".id = told.id AND "Delivery".lease = told.lease AND state = 'pending'
      RETURNING told.id`,
  },
  failEnded: {
    name: 'deliveries_fail_ended',
    text: `UPDATE "Delivery" SET state = 'failed', "nextAttemptAt" = NULL, "lastError" = 'the subscription has ended',
        "finishedAt" = $2::timestamptz
      WHERE id IN (SELECT pending.id FROM unnest($1::text[]) AS ended (id)
          JOIN "Subscription" ON "Subscription".id = ended.id AND "endedAt" IS NOT NULL CROSS JOIN LATERAL
          (SELECT id FROM "Delivery" WHERE state = 'pending' AND lease IS NULL AND "subscriptionId" = ended.id
           ORDER BY "nextAttemptAt" LIMIT ${MOST_ROWS} FOR UPDATE SKIP LOCKED) pending LIMIT ${MOST_ROWS})
      RETURNING id`,
  },
}

/** Writes what came of tries, in one statement, and gives the ids of those that it was still for this worker to write. */
export async function finish(db: Database, now: number, outcomes: readonly Finished[]): Promise<string[]> {
  const columns = [
    outcomes.map(({ id }) => id),
    outcomes.map(({ lease }) => lease),
    outcomes.map(({ delivered }) => delivered),
    outcomes.map(({ status }) => status),
    outcomes.map(({ error }) => error),
    outcomes.map(({ answer }) => answer),
    outcomes.map(({ next }) => next && new Date(next).toISOString()),
    outcomes.map(({ gone }) => gone),
  ]
  const values = [...columns.map(arrayOf), new Date(now).toISOString()]
  const rows = await retryingDeadlocks(() => db.execute(statements.finish, values))
  return rows.map(([id]) => id!)
}

/** Of subscriptions that have ended, fails what is pending: at most so many at once; whether there may be more. */
export async function failEnded(db: Database, now: number, subscriptions: readonly string[]): Promise<boolean> {
  const rows = await db.execute(statements.failEnded, [arrayOf(subscriptions), new Date(now).toISOString()])
  return rows.length === MOST_ROWS
}
