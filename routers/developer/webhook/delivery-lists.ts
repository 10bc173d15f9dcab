import type { Database } from '../../../prisma/client.ts'
import { int, nullable, statement, text } from '../../../prisma/pg/statement.ts'
import type { deliveryStates } from '../../webhooks/deliveries/retry.ts'
import { COLUMNS, columns, isOfSubscription, isOfType, OF_DELIVERY } from './delivery-statements.ts'

const MAX_OFFERED = 50

/**
 * Reads each subscription's newest deliveries by its index, then merges them: an index by app would slow down each delivery.
 * LATERAL, as a join would read all apps' deliveries.
 */
const newest = (condition: string) => `
  SELECT found.* FROM "Subscription" of CROSS JOIN LATERAL (SELECT id, "createdAt" FROM "Delivery" delivery
    WHERE "subscriptionId" = of.id ${condition} AND ${isOfType('delivery')}
    ORDER BY "createdAt" DESC, id LIMIT $limit::int8 + $offset::int8) found
  WHERE of."appId" = $app AND ${isOfSubscription('of.id')}`

/** A rare type is not found among the newest deliveries: starts with its events, which are as old as their deliveries. */
const newestOfType = (condition: string) => `
  (SELECT found.* FROM "PublishedEvent" of CROSS JOIN LATERAL (SELECT id, "createdAt" FROM "Delivery"
    WHERE "eventId" = of.id AND "appId" = of."appId" ${condition}
    ORDER BY "createdAt" DESC, id LIMIT $limit::int8 + $offset::int8) found
  WHERE of."appId" = $app AND of.type = $type ORDER BY of."publishedAt" DESC, found.id LIMIT $limit::int8 + $offset::int8)`

/** Uses the workers' index: few deliveries are pending, among however many. Those in flight are in the index of leases. */
const pending = `
  (SELECT found.* FROM "Subscription" of CROSS JOIN LATERAL (SELECT id, "createdAt" FROM "Delivery" delivery
    WHERE "subscriptionId" = of.id AND state = 'pending' AND lease IS NULL AND ${isOfType('delivery')}
    ORDER BY "nextAttemptAt" OFFSET 0) found
   WHERE of."appId" = $app AND ${isOfSubscription('of.id')})
  UNION ALL (SELECT id, "createdAt" FROM "Delivery" delivery WHERE lease IS NOT NULL AND "appId" = $app
    AND state = 'pending' AND ${isOfType('delivery')} AND ${isOfSubscription('"subscriptionId"')})`

const failed = `SELECT id, "createdAt" FROM "Delivery" delivery WHERE "appId" = $app AND state = 'failed'
  AND ${isOfType('delivery')} AND ${isOfSubscription('"subscriptionId"')}`

const list = <P extends typeof parameters>(name: string, rows: string, of: P) =>
  statement(
    name,
    `SELECT ${COLUMNS}
      FROM (SELECT id FROM (${rows}) candidate ORDER BY "createdAt" DESC, id LIMIT $limit::int8 OFFSET $offset::int8) page
      JOIN "Delivery" delivery ON delivery.id = page.id ${OF_DELIVERY}
      ORDER BY delivery."createdAt" DESC, delivery.id`,
    of,
    columns,
  )

const parameters = { app: text, limit: int, offset: int, type: nullable(text) }
const allParameters = { ...parameters, subscription: nullable(text) }

/** For an app with 1,000 subscriptions and 300,000 deliveries, 0.1 s. */
const lists = {
  all: list('developer_deliveries', newest(''), allParameters),
  delivered: list('developer_deliveries_delivered', newest(`AND state = 'delivered'`), allParameters),
  pending: list('developer_deliveries_pending', pending, allParameters),
  failed: list('developer_deliveries_failed', failed, allParameters),
}

const listsOfType = {
  all: list('developer_deliveries_of_type', newestOfType(''), parameters),
  delivered: list('developer_deliveries_of_type_delivered', newestOfType(`AND state = 'delivered'`), parameters),
}

export interface DeliveryFilter {
  state?: (typeof deliveryStates)[number] | undefined
  type?: string | undefined
  subscription?: string | undefined
}

interface Page {
  app: string
  limit: number
  offset: number
}

/** The deliveries of an app, newest first. */
export function listDeliveries(db: Database, { state, type, subscription }: DeliveryFilter, page: Page) {
  if (type !== undefined && subscription === undefined && (state === undefined || state === 'delivered')) {
    return db.execute(listsOfType[state ?? 'all'], { ...page, type })
  }
  return db.execute(lists[state ?? 'all'], { ...page, type: type ?? null, subscription: subscription ?? null })
}

/** The CTE `found`, the types of an app's events; jumps through the index from type to type. */
export const EACH_TYPE = `WITH RECURSIVE found AS (
      (SELECT type FROM "PublishedEvent" WHERE "appId" = $app ORDER BY type LIMIT 1)
      UNION ALL
      SELECT following.type FROM found CROSS JOIN LATERAL
        (SELECT type FROM "PublishedEvent" WHERE "appId" = $app AND type > found.type ORDER BY type LIMIT 1) following)`

export const typesStatement = statement(
  'developer_event_types',
  `${EACH_TYPE} SELECT type FROM found LIMIT ${MAX_OFFERED}`,
  { app: text },
  { type: text },
)

/** An app's subscriptions, newest first. */
export const subscriptionsStatement = statement(
  'developer_subscriptions',
  `SELECT id FROM "Subscription" WHERE "appId" = $app ORDER BY "createdAt" DESC, id DESC LIMIT ${MAX_OFFERED}`,
  { app: text },
  { id: text },
)
