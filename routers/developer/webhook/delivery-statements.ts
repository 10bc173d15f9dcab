import { bool, instant, int, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { unix } from '../../kernel/time.ts'
import { AT_ONCE, deliveryStates, dueAt, retryStatement } from '../../webhooks/deliveries/retry.ts'

export const MAX_RETRIED = 5_000

export const COLUMNS = `delivery.id, "eventId" AS event, event.type, "subscriptionId" AS subscription, test, delivery.state, attempts,
  "lastStatus", "lastError", ${unix('delivery."createdAt"')} AS "createdAt", ${unix('"lastAttemptAt"')} AS "lastAttemptAt",
  ${unix(`(${dueAt('delivery')})`)} AS "nextAttemptAt", ${unix('"finishedAt"')} AS "finishedAt"`

export const columns = {
  id: text,
  event: text,
  type: text,
  subscription: text,
  test: bool,
  state: oneOf(...deliveryStates),
  attempts: int,
  lastStatus: nullable(int),
  lastError: nullable(text),
  createdAt: int,
  lastAttemptAt: nullable(int),
  nextAttemptAt: nullable(int),
  finishedAt: nullable(int),
}

export const OF_DELIVERY = `JOIN "PublishedEvent" event ON event."appId" = delivery."appId" AND event.id = delivery."eventId"
  JOIN "Subscription" subscription ON subscription.id = delivery."subscriptionId"`

export const one = statement(
  'developer_delivery',
  `SELECT ${COLUMNS}, subscription.url, subscription.secret IS NOT NULL AS "hasSecret", body, "lastAnswer" AS answer
    FROM "Delivery" delivery ${OF_DELIVERY} WHERE delivery."appId" = $app AND delivery.id = $id`,
  { app: text, id: text },
  { ...columns, url: nullable(text), hasSecret: bool, body: text, answer: nullable(text) },
)

/** The attempts of a delivery, the last first. */
export const history = statement(
  'developer_delivery_history',
  `SELECT number, ${unix('at')} AS at, "durationMs", status, error, answer FROM "DeliveryAttempt"
    WHERE "deliveryId" = $id ORDER BY number DESC`,
  { id: text },
  { number: int, at: int, durationMs: int, status: nullable(int), error: nullable(text), answer: nullable(text) },
)

const isActiveApp = `"App".id = $owner AND "App".state = 'active'`
export const retry = retryStatement('developer_delivery_retry', isActiveApp)
/** One that has arrived, too. */
export const resend = retryStatement('developer_delivery_resend', isActiveApp, true)

/** Whether a delivery is of `$subscription`, or this is null. */
export const isOfSubscription = (column: string) => `($subscription::text IS NULL OR ${column} = $subscription)`

/** Whether the event of the "Delivery" `table` has the type `$type`, or this is null. Reads the event only for a type. */
export const isOfType = (table: string) =>
  `($type::text IS NULL OR (SELECT type FROM "PublishedEvent"
    WHERE "appId" = ${table}."appId" AND id = ${table}."eventId") = $type)`

/**
 * An app's failed deliveries since a time, of a type and a subscription unless these are null, oldest first. Locks their
 * subscriptions first, as a worker that ends one does. They start again without a lease, so that the result of an attempt in
 * flight is discarded. One per subscription is attempted at once: whether the others follow depends on its receiver.
 */
export const retryFailed = statement(
  'developer_deliveries_retry_failed',
  `WITH app AS (SELECT id FROM "App" WHERE id = $app AND state = 'active' FOR KEY SHARE),
    receiver AS (SELECT subscription.id FROM "Subscription" subscription JOIN app ON app.id = "appId"
      WHERE "endedAt" IS NULL ORDER BY subscription.id FOR SHARE OF subscription),
    failed AS (SELECT id FROM "Delivery" WHERE "appId" = $app AND state = 'failed' AND "createdAt" >= $since::timestamptz
      AND ${isOfType('"Delivery"')} AND ${isOfSubscription('"subscriptionId"')}
      AND "subscriptionId" IN (SELECT id FROM receiver) ORDER BY "createdAt", id LIMIT ${MAX_RETRIED} FOR UPDATE SKIP LOCKED),
    first AS (SELECT min(delivery.id) AS id FROM failed JOIN "Delivery" delivery ON delivery.id = failed.id GROUP BY "subscriptionId")
    UPDATE "Delivery" SET state = 'pending', attempts = 0, "nextAttemptAt" =
        CASE WHEN failed.id IN (SELECT id FROM first) THEN ${AT_ONCE} ELSE $now::timestamptz END, lease = NULL,
      "leasedUntil" = NULL, "finishedAt" = NULL
    FROM failed WHERE "Delivery".id = failed.id RETURNING "Delivery".id`,
  { app: text, since: instant, now: instant, type: nullable(text), subscription: nullable(text) },
  { id: text },
)
