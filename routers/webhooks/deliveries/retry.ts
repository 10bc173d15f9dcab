import { int, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { unix } from '../../kernel/time.ts'

export const deliveryStates = ['pending', 'delivered', 'failed'] as const

/**
 * The `nextAttemptAt` of a delivery that somebody waits for, by a retry or a test: the first of its subscription, and
 * attempted although that backs off. A claim sets it to AT_ONCE_CLAIMED: in flight, it is a retry that has come since.
 */
export const AT_ONCE = `'epoch'::timestamptz`
/** The same, for Prisma. */
export const atOnce = new Date(0)
/** Replaces AT_ONCE in a claim: the delivery stays the first when the worker dies. */
export const AT_ONCE_CLAIMED = `'1970-01-01T00:00:00.001Z'::timestamptz`

/** When a delivery is, or has been, due: never before its last attempt. */
export const dueAt = (table: string) =>
  `CASE WHEN ${table}."nextAttemptAt" IS NOT NULL THEN
    greatest(${table}."nextAttemptAt", ${table}."lastAttemptAt", ${table}."createdAt") END`

/**
 * Makes a delivery due at once, if `condition`, on `$owner`, holds for its "App". Locks the subscription first, so that it ends
 * before this or after it. A pending delivery keeps its lease, and is due once its attempt in flight has failed; a failed one
 * starts again without a lease, so that the result of an attempt in flight is discarded. One that has arrived is sent again only
 * where `again`.
 */
export const retryStatement = (name: string, condition: string, again = false) =>
  statement(
    name,
    `WITH receiver AS (
        SELECT subscription.id FROM "Subscription" subscription JOIN "App" ON "App".id = subscription."appId"
        WHERE subscription.id = (SELECT "subscriptionId" FROM "Delivery" WHERE id = $id)
          AND ${condition} AND subscription."endedAt" IS NULL FOR SHARE OF subscription
      )
      UPDATE "Delivery" delivery SET state = 'pending',
        attempts = CASE state WHEN 'pending' THEN attempts ELSE 0 END,
        "nextAttemptAt" = ${AT_ONCE},
        lease = CASE state WHEN 'pending' THEN lease END,
        "leasedUntil" = CASE state WHEN 'pending' THEN "leasedUntil" END,
        "finishedAt" = NULL
      FROM receiver WHERE delivery.id = $id AND "subscriptionId" = receiver.id ${again ? '' : `AND state <> 'delivered'`}
      RETURNING delivery.id, "eventId" AS event, "subscriptionId" AS subscription, state, attempts, "lastStatus",
        "lastError", ${unix(dueAt('delivery'))} AS "nextAttemptAt"`,
    { id: text, owner: text },
    {
      id: text,
      event: text,
      subscription: text,
      state: oneOf(...deliveryStates),
      attempts: int,
      lastStatus: nullable(int),
      lastError: nullable(text),
      nextAttemptAt: int,
    },
  )
