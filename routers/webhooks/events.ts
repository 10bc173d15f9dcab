import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../../prisma/client.ts'
import { bool, int, jsonStrings, nullable, oneOf, statement, text, timestamp } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { internal } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import { json } from '../kernel/json.ts'
import { appId } from '../kernel/page.ts'
import { providerPlatform } from '../kernel/policies.ts'
import { toJson } from '../kernel/raw-json/text.ts'
import { router } from '../kernel/trpc.ts'
import { formatBody } from './deliveries/request.ts'
import { describe, kinds, undescribe } from './event-catalogue.ts'
import { fetchEvents } from './feed/fetch.ts'
import { EVENT_TYPE } from './rules.ts'

/** The body that receivers get, in bytes. */
export const MAX_BODY_BYTES = 256 * 1024

/** `body` is the text that receivers get, `publishedAt` an ISO time. */
export interface Event {
  app: string
  provider: string
  id: string
  type: string
  body: string
  publishedAt: string
}

/**
 * CTEs that store a delivery for each subscriber of the events in the CTE `event`, and for each address that gets their type.
 * Events of a test club go to addresses of the sandbox, and to the webhook of the app where nobody has subscribed.
 */
export const deliver = `receiver AS (
        SELECT event."appId", event.id AS event, event."publishedAt", subscription.id AS subscription
        FROM event JOIN "Subscription" subscription ON subscription."appId" = event."appId"
        WHERE url IS NOT NULL AND "endedAt" IS NULL AND CASE WHEN address
          THEN subscription.test = event."isTest" AND (types = '{}' OR event.type = ANY (types))
          ELSE NOT subscription.test OR event."isTest"
            AND EXISTS (SELECT FROM "App" WHERE "App".id = event."appId" AND "webhookUrl" = subscription.url) AND NOT EXISTS (
            SELECT FROM "Subscription" other WHERE other."appId" = event."appId" AND other.url IS NOT NULL
              AND other."endedAt" IS NULL AND NOT other.test AND NOT other.address) END
        FOR KEY SHARE OF subscription
      ), delivery AS (
        INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", "nextAttemptAt", "createdAt")
        SELECT gen_random_uuid(), "appId", event, subscription, "publishedAt", "publishedAt" FROM receiver RETURNING id
      )`

export const statements = {
  /**
   * Locks the app and the subscriptions, so that none of them is deleted before the rows that reference it are in. Waits
   * for a concurrent publish of the same id, and then returns `isNew` = false.
   */
  publish: statement(
    'event_publish',
    `WITH app AS (
        SELECT id, state FROM "App" WHERE id = $app AND "providerId" = $provider FOR KEY SHARE
      ), event AS (
        INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
        SELECT id, $id, $type, $body, $publishedAt::timestamptz FROM app WHERE state = 'active'
        ON CONFLICT DO NOTHING RETURNING "appId", id, type, "publishedAt", "isTest"
      ), ${deliver}
      SELECT (SELECT state FROM app) AS app, EXISTS (SELECT FROM event) AS "isNew",
        (SELECT coalesce(json_agg(id), '[]') FROM delivery) AS deliveries`,
    { app: text, provider: text, id: text, type: text, body: text, publishedAt: timestamp },
    { app: nullable(oneOf('active', 'suspended')), isNew: bool, deliveries: jsonStrings },
  ),
  published: statement(
    'event_published',
    `SELECT (SELECT count(*) FROM "Delivery" WHERE "appId" = $app AND "eventId" = $id) AS deliveries
      FROM "PublishedEvent" WHERE "appId" = $app AND id = $id`,
    { app: text, id: text },
    { deliveries: int },
  ),
}

/** Publishes an event unless its id was published before. Returns the new delivery ids, or the count of existing ones. */
async function publishOnce(db: Database, event: Event) {
  for (;;) {
    const [row] = await retryingDeadlocks(() => db.execute(statements.publish, event))
    const { app: state, isNew, deliveries } = row!
    if (state === null) throw errors.appUnknown()
    if (state === 'suspended') throw errors.appSuspended()
    if (isNew) return { made: deliveries }
    const [before] = await db.execute(statements.published, event)
    // No row: the event was purged in between.
    if (before) return { before: before.deliveries }
  }
}

const dataErrors = { missing: errors.dataMissing, notJson: errors.dataNotJson, tooDeep: errors.dataTooDeep }

const input = z.object({
  app: appId('app'),
  type: z.string(withError('eventTypeInvalid')).regex(EVENT_TYPE, withError('eventTypeInvalid')),
  data: json.refine((data) => data !== undefined, withError('dataMissing')),
  id: z
    .string(withError('eventIdInvalid'))
    .regex(/^[!-~]{1,255}$/, withError('eventIdInvalid'))
    .optional(),
})

/** One statement, one transaction: once it is answered, a delivery to every subscriber of that moment is stored. */
const publish = internal('ntf.events:write', providerPlatform, {
  summary: 'Publishes an event of an app to its subscribers',
  fails: ['dataNotJson', 'dataTooDeep', 'eventTooLarge', 'appUnknown', 'appSuspended'],
})
  .input(input)
  .output(
    z.object({ id: z.string(), deliveries: z.int().meta({ description: "The number of the event's deliveries" }) }),
  )
  .mutation(async ({ ctx: { core, provider }, input: { app, type, data, id = randomUUID() } }) => {
    const publishedAt = new Date(core.now()).toISOString()
    const text = await toJson(data, dataErrors)
    const body = formatBody({ id, type, publishedAt }, text)
    if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw errors.eventTooLarge()
    const { made, before } = await publishOnce(core.db, { app, provider, id, type, body, publishedAt })
    if (made === undefined) return { id, deliveries: before }
    core.published({ app, event: id, deliveries: made })
    return { id, deliveries: made.length }
  })

export const events = router({ publish, fetch: fetchEvents, describe, undescribe, kinds })
