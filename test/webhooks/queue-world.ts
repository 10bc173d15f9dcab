import { randomBytes, randomUUID } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { migratedDatabase } from '../support/databases.ts'
import { id } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'

/** Due at any test's time. */
const LONG_AGO = Date.parse('2024-02-29T12:00:00Z')

export type QueueWorld = Awaited<ReturnType<typeof startQueue>>

/** One for each worker process of Vitest, which runs one file at a time; dropped after the run. */
let database: Promise<{ databaseUrl: string; db: Database }> | undefined

async function openOne() {
  const databaseUrl = await migratedDatabase(() => {})
  return { databaseUrl, db: openTestDatabase(databaseUrl) }
}

/** An empty queue. */
export async function startQueue() {
  database ??= openOne()
  const { databaseUrl, db } = await database
  await db.app.deleteMany()
  await db.mail.deleteMany()
  const secretsKey = randomBytes(32)
  return { databaseUrl, db, secretsKey, ...(await publisher(db, createCipher([secretsKey]))) }
}

/** Fills a queue, with an app of its own. */
export async function publisher(db: Database, cipher: ReturnType<typeof createCipher>) {
  const [app, team, providerId] = [id('app'), id('team'), id('provider')]
  await db.organisation.create({ data: { id: providerId, kind: 'provider', name: 'Provider' } })
  await db.team.create({ data: { id: team, name: 'Team', level: 'developer' } })
  await db.app.create({ data: { id: app, name: 'App', teamId: team, providerId } })
  return {
    app,
    cipher,
    async subscribe(url: string | null = 'https://127.0.0.1/', secret: string | null = null): Promise<string> {
      const id = randomUUID()
      const encrypted = secret && cipher.encrypt(secret, `Subscription.secret:${id}`)
      await db.subscription.create({ data: { id, appId: app, subscriber: 'club', url, secret: encrypted } })
      return id
    },
    /** Publishes events, one per delivery, round-robin over the subscriptions; due from `at` on, 1 ms apart. Returns delivery ids. */
    async publish(to: string | readonly string[], { count = 1, at = LONG_AGO, data = '{}' } = {}): Promise<string[]> {
      const subscriptions = [to].flat()
      const rows = Array.from({ length: count }, (_, n) => {
        const [delivery, event, publishedAt] = [randomUUID(), id('event'), new Date(at + n)]
        const body = JSON.stringify({
          id: event,
          type: 'test.happened',
          timestamp: publishedAt,
          data: JSON.parse(data),
        })
        return { id: delivery, event, body, publishedAt, subscription: subscriptions[n % subscriptions.length]! }
      })
      // One statement of one form, which Prisma need not plan for each count.
      await db.$executeRaw`
        WITH row AS (
          SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json)
            AS row (id text, event text, body text, "publishedAt" timestamptz, subscription text)
        ), events AS (
          INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
          SELECT ${app}, event, 'test.happened', body, "publishedAt" FROM row
        )
        INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", "createdAt", "nextAttemptAt")
        SELECT id, ${app}, event, subscription, "publishedAt", "publishedAt" FROM row`
      return rows.map(({ id }) => id)
    },
    /** Publishes one event to all of the subscriptions; due long ago. */
    async publishToAll(subscriptions: readonly string[], data = '{}') {
      const eventId = id('event')
      const body = JSON.stringify({ id: eventId, data: JSON.parse(data) })
      const publishedAt = new Date(LONG_AGO)
      await db.publishedEvent.create({ data: { appId: app, id: eventId, type: 'test.happened', body, publishedAt } })
      await db.delivery.createMany({
        data: subscriptions.map((subscriptionId) => ({
          id: randomUUID(),
          appId: app,
          eventId,
          subscriptionId,
          createdAt: publishedAt,
          nextAttemptAt: publishedAt,
        })),
      })
    },
    row: (id: string | undefined) => db.delivery.findUniqueOrThrow({ where: { id: id! } }),
    /** The attempts of a delivery, without its id. */
    history: (deliveryId: string | undefined) =>
      db.deliveryAttempt.findMany({
        where: { deliveryId: deliveryId! },
        orderBy: { number: 'asc' },
        omit: { deliveryId: true },
      }),
    states: async () => {
      const groups = await db.delivery.groupBy({ by: ['state'], _count: true })
      return Object.fromEntries(groups.map(({ state, _count }) => [state, _count]))
    },
  }
}
