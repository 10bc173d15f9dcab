import type { Database } from '../../prisma/client.ts'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import { statement, text } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../../routers/kernel/database-errors.ts'
import type { AttemptResult } from './attempt-result.ts'

export interface Attempt {
  id: string
  /** The claim's lease: once the delivery has another, the result is not recorded. */
  lease: string
  /** When it began, in Unix milliseconds. */
  at: number
  durationMs: number
  result: AttemptResult
  /** Unix time in milliseconds; null after the last attempt. */
  nextAttemptAt: number | null
}

/** Per statement. */
const MAX_ROWS = 1_000

/** Per delivery; a failed one that is retried again and again makes more. */
const MAX_ATTEMPTS = 50

const statements = {
  record: statement(
    'deliveries_record',
    `WITH attempt AS
        (SELECT * FROM unnest($1::text[], $2::text[], $3::bool[], $4::int4[], $5::text[], $6::text[], $7::timestamptz[], $8::bool[], $9::timestamptz[], $10::int4[])
         AS attempt (id, lease, delivered, status, error, body, next, gone, at, ms)),
      ended AS
        (UPDATE "Subscription" SET "endedAt" = $11::timestamptz FROM attempt, "Delivery" WHERE attempt.gone
           AND "Delivery".id = attempt.id AND "Delivery".lease = attempt.lease
           AND "Subscription".id = "subscriptionId" AND "endedAt" IS NULL),
      recorded AS
        (UPDATE "Delivery" SET attempts = attempts + 1, "lastStatus" = attempt.status, "lastError" = attempt.error,
          "lastAnswer" = attempt.body, "lastAttemptAt" = attempt.at, "nextAttemptAt" = attempt.next, lease = NULL, "leasedUntil" = NULL,
          state = CASE WHEN attempt.delivered THEN 'delivered' WHEN attempt.next IS NULL THEN 'failed' ELSE 'pending' END::"DeliveryState",
          "finishedAt" = CASE WHEN attempt.next IS NULL THEN $11::timestamptz END
        FROM attempt WHERE "Delivery".id = attempt.id AND "Delivery".lease = attempt.lease AND state = 'pending'
        RETURNING attempt.*, greatest(attempts, 1 + (SELECT number FROM "DeliveryAttempt"
          WHERE "deliveryId" = attempt.id ORDER BY number DESC LIMIT 1)) AS number),
      dropped AS
        (DELETE FROM "DeliveryAttempt" former USING recorded WHERE recorded.number > ${MAX_ATTEMPTS}
          AND "deliveryId" = recorded.id AND former.number <= recorded.number - ${MAX_ATTEMPTS})
      INSERT INTO "DeliveryAttempt" ("deliveryId", number, at, "durationMs", status, error, answer)
      SELECT id, number, at, ms, status, error, body FROM recorded RETURNING "deliveryId" AS id`,
    { id: text },
  ),
  failEnded: statement(
    'deliveries_fail_ended',
    `UPDATE "Delivery" SET state = 'failed', "nextAttemptAt" = NULL, "lastError" = 'the subscription has ended',
        "finishedAt" = $2::timestamptz
      WHERE id IN (SELECT pending.id FROM unnest($1::text[]) AS ended (id)
          JOIN "Subscription" ON "Subscription".id = ended.id AND "endedAt" IS NOT NULL CROSS JOIN LATERAL
          (SELECT id FROM "Delivery" WHERE state = 'pending' AND lease IS NULL AND "subscriptionId" = ended.id
           ORDER BY "nextAttemptAt" LIMIT ${MAX_ROWS} FOR UPDATE SKIP LOCKED) pending LIMIT ${MAX_ROWS})
      RETURNING id`,
    { id: text },
  ),
}

/**
 * Records attempts in one statement, ends the subscriptions that are gone, and returns the ids of the deliveries that still had
 * the lease.
 */
export async function recordAttempts(db: Database, now: number, attempts: readonly Attempt[]): Promise<string[]> {
  const columns = [
    attempts.map(({ id }) => id),
    attempts.map(({ lease }) => lease),
    attempts.map(({ result }) => result.error === null),
    attempts.map(({ result }) => result.status),
    attempts.map(({ result }) => result.error),
    attempts.map(({ result }) => result.responseBody),
    attempts.map(({ nextAttemptAt: at }) => at && new Date(at).toISOString()),
    attempts.map(({ result }) => result.gone),
    attempts.map(({ at }) => new Date(at).toISOString()),
    attempts.map(({ durationMs }) => durationMs),
  ]
  const values = [...columns.map(arrayOf), new Date(now).toISOString()]
  const rows = await retryingDeadlocks(() => db.execute(statements.record, values))
  return rows.map(({ id }) => id)
}

/** Fails a limited number of pending deliveries of ended subscriptions; returns whether there may be more. */
export async function failEnded(db: Database, now: number, subscriptions: readonly string[]): Promise<boolean> {
  const rows = await db.execute(statements.failEnded, [arrayOf(subscriptions), new Date(now).toISOString()])
  return rows.length === MAX_ROWS
}
