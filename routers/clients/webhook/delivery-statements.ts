import { bool, int, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { AT_ONCE, deliveryStates, dueAt, retryOf } from '../../webhooks/deliveries/retry.ts'

export const MAX_RETRIED = 5_000

const unix = (time: string) => `floor(extract(epoch FROM ${time}))::int8`

const COLUMNS = `delivery.id, "eventId" AS event, event.type, "subscriptionId" AS subscription, test, delivery.state, attempts,
  "lastStatus", "lastError", ${unix('delivery."createdAt"')} AS "createdAt", ${unix('"lastAttemptAt"')} AS "lastAttemptAt",
  ${unix(`(${dueAt('delivery')})`)} AS "nextAttemptAt", ${unix('"finishedAt"')} AS "finishedAt"`

const columns = {
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

const OF_DELIVERY = `JOIN "PublishedEvent" event ON event."appId" = delivery."appId" AND event.id = delivery."eventId"
  JOIN "Subscription" subscription ON subscription.id = delivery."subscriptionId"`

/**
 * Reads each subscription's newest deliveries by its index, then merges them: an index by app would slow down each delivery.
 * LATERAL, as a join would read all apps' deliveries.
 */
const newest = (condition: string) => `
  SELECT found.* FROM "Subscription" of CROSS JOIN LATERAL (SELECT id, "createdAt" FROM "Delivery"
    WHERE "subscriptionId" = of.id ${condition} ORDER BY "createdAt" DESC, id LIMIT $2::int8 + $3::int8) found
  WHERE of."appId" = $1`

/** Uses the workers' index: few deliveries are pending, among however many. Those in flight are in the index of leases. */
const pending = `
  (SELECT found.* FROM "Subscription" of CROSS JOIN LATERAL (SELECT id, "createdAt" FROM "Delivery"
    WHERE "subscriptionId" = of.id AND state = 'pending' AND lease IS NULL ORDER BY "nextAttemptAt" OFFSET 0) found
   WHERE of."appId" = $1)
  UNION ALL (SELECT id, "createdAt" FROM "Delivery" WHERE lease IS NOT NULL AND "appId" = $1 AND state = 'pending')`

const failed = `SELECT id, "createdAt" FROM "Delivery" WHERE "appId" = $1 AND state = 'failed'`

const listOf = (name: string, rows: string) =>
  statement(
    name,
    `SELECT ${COLUMNS}
      FROM (SELECT id FROM (${rows}) candidate ORDER BY "createdAt" DESC, id LIMIT $2::int8 OFFSET $3::int8) page
      JOIN "Delivery" delivery ON delivery.id = page.id ${OF_DELIVERY}
      ORDER BY delivery."createdAt" DESC, delivery.id`,
    columns,
  )

/** Newest first; parameters: app, limit and offset. For an app with 1,000 subscriptions and 300,000 deliveries, 0.1 s. */
export const lists = {
  all: listOf('developer_deliveries', newest('')),
  delivered: listOf('developer_deliveries_delivered', newest(`AND state = 'delivered'`)),
  pending: listOf('developer_deliveries_pending', pending),
  failed: listOf('developer_deliveries_failed', failed),
}

export const one = statement(
  'developer_delivery',
  `SELECT ${COLUMNS}, subscription.url, subscription.secret IS NOT NULL AS "hasSecret", body, "lastAnswer" AS answer
    FROM "Delivery" delivery ${OF_DELIVERY} WHERE delivery."appId" = $1 AND delivery.id = $2`,
  { ...columns, url: nullable(text), hasSecret: bool, body: text, answer: nullable(text) },
)

export const retry = retryOf('developer_delivery_retry', `"App".id = $2 AND "App".state = 'active'`)

/**
 * An app's failed deliveries since a time, oldest first. Locks their subscriptions first, as a worker that ends one does. They
 * start again without a lease, so that the result of an attempt in flight is discarded. One per subscription is attempted at
 * once: whether the others follow depends on its receiver.
 */
export const retryFailed = statement(
  'developer_deliveries_retry_failed',
  `WITH app AS (SELECT id FROM "App" WHERE id = $1 AND state = 'active' FOR KEY SHARE),
    receiver AS (SELECT subscription.id FROM "Subscription" subscription JOIN app ON app.id = "appId"
      WHERE "endedAt" IS NULL ORDER BY subscription.id FOR SHARE OF subscription),
    failed AS (SELECT id FROM "Delivery" WHERE "appId" = $1 AND state = 'failed' AND "createdAt" >= $2::timestamptz
      AND "subscriptionId" IN (SELECT id FROM receiver) ORDER BY "createdAt", id LIMIT ${MAX_RETRIED} FOR UPDATE SKIP LOCKED),
    first AS (SELECT min(delivery.id) AS id FROM failed JOIN "Delivery" delivery ON delivery.id = failed.id GROUP BY "subscriptionId")
    UPDATE "Delivery" SET state = 'pending', attempts = 0, "nextAttemptAt" =
        CASE WHEN failed.id IN (SELECT id FROM first) THEN ${AT_ONCE} ELSE $3::timestamptz END, lease = NULL,
      "leasedUntil" = NULL, "finishedAt" = NULL
    FROM failed WHERE "Delivery".id = failed.id RETURNING "Delivery".id`,
  { id: text },
)
