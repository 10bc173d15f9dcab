import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { createCipher } from '../server/secrets/cipher.ts'
import { selfSigned } from '../test/webhooks/receiver.ts'
import type { Bench } from './database.ts'
import type { Metered } from './process.ts'
import { startMetered } from './process.ts'
import type { Heard } from './receiver.ts'

/** A receiver in its own process. */
export interface Receiver extends Pick<Metered, 'cpu' | 'stop'> {
  url: (path: string) => string
  /** Deliveries since the previous call. */
  heard: () => Promise<Heard>
}

/** Shared by all receivers. */
const certificate = selfSigned()

/** What senders have to trust. */
export const certificateOf = async () => (await certificate).cert

export async function startReceiver(): Promise<Receiver> {
  const { key, cert } = await certificate
  const program = new URL('receiver.ts', import.meta.url).pathname
  const started = startMetered(['--import', 'tsx', program], { KEY: key, CERT: cert })
  const [port] = await once(started.child, 'message')
  return {
    ...started,
    url: (path) => `https://127.0.0.1:${port}${path}`,
    async heard() {
      started.child.send('heard')
      const [heard] = await once(started.child, 'message')
      return heard
    },
  }
}

export type Queue = Awaited<ReturnType<typeof openQueue>>

/** Fills the queue of a bench's database, and starts workers on it. */
export async function openQueue({ url, dataDir, tenants }: Bench) {
  const app = tenants[0]!.app
  const key = randomBytes(32)
  const cipher = createCipher([key])
  const authorities = join(dataDir, 'receivers.pem')
  await writeFile(authorities, (await certificate).cert)
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC' })
  await client.connect()
  let events = 0

  return {
    async subscribe(id: string, url: string) {
      const secret = cipher.encrypt('a-secret-of-a-bench', `Subscription.secret:${id}`)
      const values = [id, app, url, secret]
      await client.query('INSERT INTO "Subscription" VALUES ($1, $2, $1, $3, $4)', values)
    },
    /** Inserts events as events.publish does, one delivery each, to the subscriptions in turn. */
    async publish(subscriptions: string[], count: number) {
      const now = new Date().toISOString()
      await client.query({
        name: 'publish',
        text: `WITH event AS (INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
            SELECT $1, n::text, 'bench.happened', json_build_object('id', n::text, 'type', 'bench.happened', 'timestamp', $4::text,
              'data', json_build_object('member', 'anna', 'note', repeat('x', 200)))::text, $4::text::timestamptz
            FROM generate_series($2::int, $3::int) n RETURNING id)
          INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", "createdAt", "nextAttemptAt")
          SELECT gen_random_uuid(), $1, id, ($5::text[])[id::int % cardinality($5) + 1], $4::text::timestamptz, $4::text::timestamptz FROM event`,
        values: [app, events + 1, events + count, now, subscriptions],
      })
      events += count
    },
    /** Fails everything that is pending. */
    async clear() {
      await client.query(`UPDATE "Delivery" SET state = 'failed', "nextAttemptAt" = NULL, lease = NULL, "leasedUntil" = NULL
        WHERE state = 'pending'`)
    },
    async pending(subscriptions: string[]) {
      const text = `SELECT count(*)::int FROM "Delivery" WHERE state = 'pending' AND "subscriptionId" = ANY ($1)`
      const { rows } = await client.query(text, [subscriptions])
      return rows[0].count as number
    },
    /** Compiled and logging, as in production. */
    startWorker: (flags: string[] = []) =>
      startMetered([...flags, 'dist/server/worker.js'], {
        DATABASE_URL: url,
        DATA_DIR: dataDir,
        SECRETS_KEY: key.toString('base64'),
        NODE_EXTRA_CA_CERTS: authorities,
        WEBHOOK_ALLOW: '127.0.0.1',
        LOG_LEVEL: 'info',
      }),
    close: () => client.end(),
  }
}

/** Keeps at least 4,000 deliveries pending for `ms`; returns deliveries per second. */
export async function atFullRate(queue: Queue, receiver: Receiver, subscriptions: string[], ms: number) {
  let pending = await queue.pending(subscriptions)
  await receiver.heard()
  const start = performance.now()
  let count = 0
  while (performance.now() - start < ms) {
    if (pending < 4_000) {
      await queue.publish(subscriptions, 2_000)
      pending += 2_000
    }
    await pause(100)
    const heard = await receiver.heard()
    pending -= heard.count
    count += heard.count
  }
  return (1_000 * count) / (performance.now() - start)
}

/** Publishes at a rate for `ms`; returns the rate of receipt and the delays from publication to receipt, in ms. */
export async function atRate(queue: Queue, receiver: Receiver, subscriptions: string[], perSecond: number, ms: number) {
  await receiver.heard()
  const start = performance.now()
  const delays: number[] = []
  let published = 0
  const hear = async () => void delays.push(...(await receiver.heard()).delays)
  for (let elapsed = 0; elapsed < ms; elapsed = performance.now() - start) {
    const due = Math.floor((elapsed * perSecond) / 1_000) - published
    if (due > 0) await queue.publish(subscriptions, due)
    published += due
    await pause(20)
  }
  await hear()
  const rate = (1_000 * delays.length) / (performance.now() - start)
  for (let waited = 0; delays.length < published && waited < 20_000; waited += 100) {
    await pause(100)
    await hear()
  }
  if (delays.length !== published) throw new Error(`${published} events were published, but ${delays.length} received.`)
  delays.sort((a, b) => a - b)
  return { rate, p50: delays[Math.floor(delays.length / 2)]!, p99: delays[Math.floor(delays.length * 0.99)]! }
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
