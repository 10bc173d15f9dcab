import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Database } from '../prisma/client.ts'
import { openDatabase } from '../prisma/client.ts'
import { callAs, createCore } from '../routers/core.ts'
import { createCipher } from '../server/secrets/cipher.ts'

/** Subscriptions of an event's app, one route of the bench each. */
export const SUBSCRIPTIONS = [0, 1, 10]

const PROVIDER = 'provider'
export const PLATFORM = 'platform'
const SCOPES = ['ntf.events:write']

const appOf = (subscriptions: number) => `publisher-${subscriptions}`

export const eventOf = (subscriptions: number) => ({
  app: appOf(subscriptions),
  type: 'member.joined',
  data: { member: 'anna', club: 'riverside', since: '2026-11-20', groups: [1, 2, 3], note: 'x'.repeat(150) },
})

/** Creates the platform's client and an app for each number of subscriptions. */
export async function createPublishers(db: Database, team: string) {
  await db.client.create({ data: { id: PLATFORM, name: PLATFORM, environment: 'production' } })
  await db.app.createMany({
    data: SUBSCRIPTIONS.map((n) => ({ id: appOf(n), name: 'App', teamId: team, providerId: PROVIDER })),
  })
  await db.subscription.createMany({
    data: SUBSCRIPTIONS.flatMap((n) =>
      Array.from({ length: n }, () => ({
        ...{ id: randomUUID(), appId: appOf(n), subscriber: 'bench', url: 'https://hooks.example.org' },
      })),
    ),
  })
}

const publish = {
  name: 'publish',
  text: `WITH event AS (
      INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
      SELECT id, $3, $4, $5, $6::timestamptz FROM "App" WHERE id = $1 AND "providerId" = $2 AND state = 'active'
      RETURNING "appId", id, "publishedAt"
    ), delivery AS (
      INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", "nextAttemptAt", "createdAt")
      SELECT gen_random_uuid(), "appId", event.id, subscription.id, "publishedAt", "publishedAt"
      FROM event JOIN "Subscription" subscription USING ("appId") WHERE url IS NOT NULL AND "endedAt" IS NULL AND NOT test
      RETURNING id
    )
    SELECT (SELECT count(*)::int FROM event) AS events, (SELECT count(*)::int FROM delivery) AS deliveries`,
}

/** Without the procedure: the plainest statement alone. */
export async function publishBare(pool: pg.Pool, { app, type, data }: ReturnType<typeof eventOf>) {
  const id = randomUUID()
  const timestamp = new Date().toISOString()
  const body = JSON.stringify({ id, type, timestamp, data })
  const { rows } = await pool.query({ ...publish, values: [app, PROVIDER, id, type, body, timestamp] })
  const [{ events, deliveries }] = rows
  if (events !== 1) throw new Error('The app is unknown or suspended.')
  return { id, deliveries: deliveries as number }
}

/** Publishes in this process, with and without the procedure; `measure` returns the CPU time of a call in µs. */
export function openCalls(url: string) {
  const db = openDatabase(url, () => {})
  const pool = new pg.Pool({ connectionString: url, max: 10, options: '-c timezone=UTC' })
  const cipher = createCipher([Buffer.alloc(32)])
  const core = createCore({ db, cipher, brand: 'the service', storageQuotaBytes: 0, now: Date.now })
  const principal = { member: null, organisation: PROVIDER, client: PLATFORM, scopes: new Set(SCOPES) }
  const variants = {
    bare: (n: number) => publishBare(pool, eventOf(n)),
    service: (n: number) => callAs(core, principal).events.publish(eventOf(n)),
  }
  return {
    async measure(variant: keyof typeof variants, subscriptions: number, concurrency: number, count: number) {
      const before = process.cpuUsage()
      let left = count
      const one = async () => {
        while (left-- > 0) {
          const { deliveries } = await variants[variant](subscriptions)
          if (deliveries !== subscriptions) throw new Error(`${deliveries} deliveries, ${subscriptions} expected.`)
        }
      }
      await Promise.all(Array.from({ length: concurrency }, one))
      const { user, system } = process.cpuUsage(before)
      return (user + system) / count
    },
    async close() {
      await pool.end()
      await db.$disconnect()
    },
  }
}
