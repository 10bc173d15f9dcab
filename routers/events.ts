import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../prisma/client.ts'
import { appId, providerOf } from './apps.ts'
import { retryingDeadlocks } from './database-errors.ts'
import { errors, withError } from './errors.ts'
import { rawJsonOf } from './raw-json/text.ts'
import { internal, providerPlatform, router } from './trpc.ts'

/** Of the text that receivers are sent. */
const MAX_BODY_BYTES = 256 * 1024

/** An event of an app of this provider. `body` is the text that receivers are sent, `publishedAt` an ISO time. */
export interface Event {
  app: string
  provider: string
  id: string
  type: string
  body: string
  publishedAt: string
}

export const statements = {
  /**
   * All of it or nothing. The app and the subscriptions are held, so that none of them goes before the rows that name
   * it are in. A twin that is published at the same time is waited for, and not seen.
   */
  publish: {
    name: 'event_publish',
    text: `WITH app AS (
        SELECT id, state FROM "App" WHERE id = $1 AND "providerId" = $2 FOR KEY SHARE
      ), event AS (
        INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
        SELECT id, $3, $4, $5, $6::timestamptz FROM app WHERE state = 'active'
        ON CONFLICT DO NOTHING RETURNING "appId", id, "publishedAt"
      ), receiver AS (
        SELECT event."appId", event.id AS event, event."publishedAt", subscription.id AS subscription
        FROM event JOIN "Subscription" subscription ON subscription."appId" = event."appId"
        WHERE url IS NOT NULL AND "endedAt" IS NULL FOR KEY SHARE OF subscription
      ), delivery AS (
        INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", "nextAttemptAt", "createdAt")
        SELECT gen_random_uuid(), "appId", event, subscription, "publishedAt", "publishedAt" FROM receiver RETURNING id
      )
      SELECT (SELECT state FROM app), EXISTS (SELECT FROM event) AS new, (SELECT string_agg(id, ',') FROM delivery) AS ids`,
  },
  published: {
    name: 'event_published',
    text: `SELECT (SELECT count(*) FROM "Delivery" WHERE "appId" = $1 AND "eventId" = $2)
      FROM "PublishedEvent" WHERE "appId" = $1 AND id = $2`,
  },
}

/** Publishes an event, unless one with its id was published before: the ids of the deliveries, or how many it has. */
async function publishOnce(db: Database, { app, provider, id, type, body, publishedAt }: Event) {
  for (;;) {
    const values = [app, provider, id, type, body, publishedAt]
    const [row] = await retryingDeadlocks(() => db.execute(statements.publish, values))
    const [state, isNew, ids] = row as [string | null, 't' | 'f', string | null]
    if (state === null) throw errors.appUnknown()
    if (state === 'suspended') throw errors.appSuspended()
    if (isNew === 't') return { made: ids?.split(',') ?? [] }
    const [before] = await db.execute(statements.published, [app, id])
    // Without a row it was removed in between.
    if (before) return { before: Number(before[0]) }
  }
}

const ofData = { notJson: errors.dataNotJson, tooDeep: errors.dataTooDeep }

const input = z.object({
  app: appId('app'),
  type: z.string(withError('eventTypeInvalid')).regex(/^[A-Za-z0-9._-]{1,128}$/, withError('eventTypeInvalid')),
  data: z.unknown().refine((data) => data !== undefined, withError('dataMissing')),
  id: z
    .string(withError('eventIdInvalid'))
    .regex(/^[!-~]{1,255}$/, withError('eventIdInvalid'))
    .optional(),
})

/** One transaction of one statement: once it is answered, every subscriber of that moment will be told. */
const publish = internal('ntf.events:write', providerPlatform, {
  summary: 'Publishes an event of an app to its subscribers',
  fails: ['dataNotJson', 'dataTooDeep', 'eventTooLarge', 'appUnknown', 'appSuspended'],
})
  .input(input)
  .output(z.object({ id: z.string(), deliveries: z.int().meta({ description: 'How many the event has' }) }))
  .mutation(async ({ ctx, input: { app, type, data, id = randomUUID() } }) => {
    const publishedAt = new Date(ctx.now()).toISOString()
    const text = await rawJsonOf(data, ofData)
    const body = `{"id":${JSON.stringify(id)},"type":"${type}","timestamp":"${publishedAt}","data":${text}}`
    if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw errors.eventTooLarge()
    const { made, before } = await publishOnce(ctx.db, { app, provider: providerOf(ctx), id, type, body, publishedAt })
    if (made === undefined) return { id, deliveries: before }
    ctx.published({ app, event: id, deliveries: made })
    return { id, deliveries: made.length }
  })

export const events = router({ publish })
