import { bool, int, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { unix } from '../../kernel/time.ts'
import { AT_ONCE, deliveryStates, dueAt, retryOf } from '../../webhooks/deliveries/retry.ts'

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
    FROM "Delivery" delivery ${OF_DELIVERY} WHERE delivery."appId" = $1 AND delivery.id = $2`,
  { ...columns, url: nullable(text), hasSecret: bool, body: text, answer: nullable(text) },
)

/** The attempts of a delivery, the last first. */
export const history = statement(
  'developer_delivery_history',
  `SELECT number, ${unix('at')} AS at, "durationMs", status, error, answer FROM "DeliveryAttempt"
    WHERE "deliveryId" = $1 ORDER BY number DESC`,
  { number: int, at: int, durationMs: int, status: nullable(int), error: nullable(text), answer: nullable(text) },
)

export const retry = retryOf('developer_delivery_retry', `"App".id = $2 AND "App".state = 'active'`)

/** Whether a delivery is of the subscription $n, or this is null. */
export const isOfSubscription = (column: string, parameter: string) =>
  `(${parameter}::text IS NULL OR ${column} = ${parameter})`

/** Whether the event of the "Delivery" `table` has the type $n, or this is null. Reads the event only for a type. */
export const isOfType = (table: string, parameter: string) =>
  `(${parameter}::text IS NULL OR (SELECT type FROM "PublishedEvent"
    WHERE "appId" = ${table}."appId" AND id = ${table}."eventId") = ${parameter})`

/**
 * An app's failed deliveries since a time, of a type ($4) and a subscription ($5) unless these are null, oldest first. Locks their subscriptions first, as a worker that ends one does. They
 * start again without a lease, so that the result of an attempt in flight is discarded. One per subscription is attempted at
 * once: whether the others follow depends on its receiver.
 */
export const retryFailed = statement(
  'developer_deliveries_retry_failed',
  `WITH app AS (SELECT id FROM "App" WHERE id = $1 AND state = 'active' FOR KEY SHARE),
    receiver AS (SELECT subscription.id FROM "Subscription" subscription JOIN app ON app.id = "appId"
      WHERE "endedAt" IS NULL ORDER BY subscription.id FOR SHARE OF subscription),
    failed AS (SELECT id FROM "Delivery" WHERE "appId" = $1 AND state = 'failed' AND "createdAt" >= $2::timestamptz
      AND ${isOfType('"Delivery"', '$4')} AND ${isOfSubscription('"subscriptionId"', '$5')}
      AND "subscriptionId" IN (SELECT id FROM receiver) ORDER BY "createdAt", id LIMIT ${MAX_RETRIED} FOR UPDATE SKIP LOCKED),
    first AS (SELECT min(delivery.id) AS id FROM failed JOIN "Delivery" delivery ON delivery.id = failed.id GROUP BY "subscriptionId")
    UPDATE "Delivery" SET state = 'pending', attempts = 0, "nextAttemptAt" =
        CASE WHEN failed.id IN (SELECT id FROM first) THEN ${AT_ONCE} ELSE $3::timestamptz END, lease = NULL,
      "leasedUntil" = NULL, "finishedAt" = NULL
    FROM failed WHERE "Delivery".id = failed.id RETURNING "Delivery".id`,
  { id: text },
)
