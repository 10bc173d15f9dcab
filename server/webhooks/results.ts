import type { Database } from '../../prisma/client.ts'
import { bools, instant, instants, ints, statement, text, texts } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../../routers/kernel/database-errors.ts'
import { AT_ONCE } from '../../routers/webhooks/deliveries/retry.ts'
import type { AttemptResult } from './send/response.ts'

export interface Attempt {
  id: string
  /** The claim's lease: once the delivery has another, the result is not recorded. */
  lease: string
  /** Where it was sent. */
  url: string | null
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

/** SQL: whether the subscription has got another url since. A 410 of the former one says nothing about it. */
const isReplaced = `(SELECT receiver.url IS DISTINCT FROM made.url FROM "Delivery" JOIN "Subscription" receiver ON receiver.id = "subscriptionId"
  WHERE "Delivery".id = made.id)`

/** SQL: when the next attempt is due, at once if somebody has asked for it during this one; null without one. */
const next = `CASE WHEN attempt.delivered OR attempt.gone AND attempt.next IS NULL THEN NULL
  WHEN "nextAttemptAt" = ${AT_ONCE} THEN "nextAttemptAt" ELSE attempt.next END`

const statements = {
  record: statement(
    'deliveries_record',
    `WITH attempt AS
        (SELECT id, lease, url, delivered, status, error, body, gone, at, ms, CASE WHEN gone AND ${isReplaced} THEN $now ELSE next END AS next
         FROM unnest($ids::text[], $leases::text[], $urls::text[], $delivered::bool[], $statuses::int4[], $errors::text[], $bodies::text[], $nexts::timestamptz[], $gone::bool[], $ats::timestamptz[], $durations::int4[])
         AS made (id, lease, url, delivered, status, error, body, next, gone, at, ms)),
      ended AS
        (UPDATE "Subscription" SET "endedAt" = $now::timestamptz FROM attempt, "Delivery" WHERE attempt.gone
           AND "Delivery".id = attempt.id AND "Delivery".lease = attempt.lease
           AND "Subscription".id = "subscriptionId" AND "Subscription".url = attempt.url AND "endedAt" IS NULL),
      recorded AS
        (UPDATE "Delivery" SET attempts = attempts + 1, "lastStatus" = attempt.status, "lastError" = attempt.error,
          "lastAnswer" = attempt.body, "lastAttemptAt" = attempt.at, "nextAttemptAt" = ${next}, lease = NULL, "leasedUntil" = NULL,
          state = CASE WHEN attempt.delivered THEN 'delivered' WHEN (${next}) IS NULL THEN 'failed' ELSE 'pending' END::"DeliveryState",
          "finishedAt" = CASE WHEN (${next}) IS NULL THEN $now::timestamptz END
        FROM attempt WHERE "Delivery".id = attempt.id AND "Delivery".lease = attempt.lease AND state = 'pending'
        RETURNING attempt.*, greatest(attempts, 1 + (SELECT number FROM "DeliveryAttempt"
          WHERE "deliveryId" = attempt.id ORDER BY number DESC LIMIT 1)) AS number),
      dropped AS
        (DELETE FROM "DeliveryAttempt" former USING recorded WHERE recorded.number > ${MAX_ATTEMPTS}
          AND "deliveryId" = recorded.id AND former.number <= recorded.number - ${MAX_ATTEMPTS})
      INSERT INTO "DeliveryAttempt" ("deliveryId", number, at, "durationMs", status, error, answer)
      SELECT id, number, at, ms, status, error, body FROM recorded RETURNING "deliveryId" AS id`,
    {
      ids: texts,
      leases: texts,
      urls: texts,
      delivered: bools,
      statuses: ints,
      errors: texts,
      bodies: texts,
      nexts: instants,
      gone: bools,
      ats: instants,
      durations: ints,
      now: instant,
    },
    { id: text },
  ),
  failEnded: statement(
    'deliveries_fail_ended',
    `UPDATE "Delivery" SET state = 'failed', "nextAttemptAt" = NULL, "lastError" = 'the subscription has ended',
        "finishedAt" = $now::timestamptz
      WHERE id IN (SELECT pending.id FROM unnest($subscriptions::text[]) AS ended (id)
          JOIN "Subscription" ON "Subscription".id = ended.id AND "endedAt" IS NOT NULL CROSS JOIN LATERAL
          (SELECT id FROM "Delivery" WHERE state = 'pending' AND lease IS NULL AND "subscriptionId" = ended.id
           ORDER BY "nextAttemptAt" LIMIT ${MAX_ROWS} FOR UPDATE SKIP LOCKED) pending LIMIT ${MAX_ROWS})
      RETURNING id`,
    { subscriptions: texts, now: instant },
    { id: text },
  ),
}

/**
 * Records attempts in one statement, ends the subscriptions that are gone, and returns the ids of the deliveries that still had
 * the lease.
 */
export async function recordAttempts(db: Database, now: number, attempts: readonly Attempt[]): Promise<string[]> {
  const values = {
    ids: attempts.map(({ id }) => id),
    leases: attempts.map(({ lease }) => lease),
    urls: attempts.map(({ url }) => url),
    delivered: attempts.map(({ result }) => result.error === null),
    statuses: attempts.map(({ result }) => result.status),
    errors: attempts.map(({ result }) => result.error),
    bodies: attempts.map(({ result }) => result.responseBody),
    nexts: attempts.map(({ nextAttemptAt }) => nextAttemptAt),
    gone: attempts.map(({ result }) => result.gone),
    ats: attempts.map(({ at }) => at),
    durations: attempts.map(({ durationMs }) => durationMs),
    now,
  }
  const rows = await retryingDeadlocks(() => db.execute(statements.record, values))
  return rows.map(({ id }) => id)
}

/** Fails a limited number of pending deliveries of ended subscriptions; returns whether there may be more. */
export async function failEnded(db: Database, now: number, subscriptions: readonly string[]): Promise<boolean> {
  const rows = await db.execute(statements.failEnded, { subscriptions, now })
  return rows.length === MAX_ROWS
}
