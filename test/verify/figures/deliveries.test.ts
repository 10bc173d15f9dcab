import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../prisma/client.ts'
import { createCipher } from '../../../server/secrets/cipher.ts'
import { dataDirectory, run, until } from '../../process/service.ts'
import { migratedDatabase } from '../../support/databases.ts'
import { times } from '../../support/rounds.ts'
import { createTenant } from '../../support/tenant.ts'
import { selfSigned, startReceiver } from '../../webhooks/receiver.ts'
import { holdFigure } from '../held-figure.ts'
import { cpuMs, median } from '../memory/process-figures.ts'
import { noteFigure } from '../noted-figure.ts'

const worker = fileURLToPath(new URL('../../../dist/server/worker.js', import.meta.url))
const SECONDS = times(30, 3)
const [ROUNDS, ROUND_SECONDS] = [times(7, 1), 5]
const LIVE = ['live-0', 'live-1', 'live-2', 'live-3']
/** Subscriptions whose receivers never respond. */
const SILENT = Array.from({ length: 1_000 }, (_, i) => `dead-${i}`)
/** A worker delivers that many a second, and keeps that share of its full rate beside silent receivers. */
const [RATE, KEPT] = [500, 0.9]
/** Pending while a worker delivers as many as it can. */
const FULL = 4_000

/** A queue with a worker, and the delays in ms from publication to receipt of what live receivers have got. */
async function openQueue() {
  const url = await migratedDatabase()
  const db = openDatabase(url, () => {})
  onTestFinished(() => db.$disconnect())
  const { app } = await createTenant(db)
  const certificate = selfSigned()
  const delays: number[] = []
  const live = await startReceiver({
    certificate,
    answer({ body }, response) {
      delays.push(Date.now() - Date.parse(JSON.parse(body).timestamp))
      response.writeHead(204).end()
    },
  })
  const silent = await startReceiver({ certificate, answer: () => {} })
  onTestFinished(async () => void (await Promise.all([live.close(), silent.close()])))
  const key = randomBytes(32)
  const cipher = createCipher([key])
  const subscriptions = [...LIVE.map((id) => [id, live] as const), ...SILENT.map((id) => [id, silent] as const)]
  await db.subscription.createMany({
    data: subscriptions.map(([id, to]) => {
      const secret = cipher.encrypt('a-secret-of-a-test', `Subscription.secret:${id}`)
      return { id, appId: app, subscriber: id, url: to.url(`/${id}`), secret }
    }),
  })
  const DATA_DIR = await dataDirectory()
  const NODE_EXTRA_CA_CERTS = join(DATA_DIR, 'receivers.pem')
  await writeFile(NODE_EXTRA_CA_CERTS, live.ca)
  const own = { DATABASE_URL: url, DATA_DIR, SECRETS_KEY: key.toString('base64') }
  const { child, ended } = run([worker], { ...own, NODE_EXTRA_CA_CERTS, WEBHOOK_ALLOW: '127.0.0.1', LOG_LEVEL: 'info' })
  onTestFinished(async () => {
    child.kill()
    await ended
  })

  let events = 0
  /** Inserts events as events.publish does, one delivery each, round-robin over the subscriptions. */
  async function publish(to: string[], count: number) {
    const now = new Date().toISOString()
    await db.$executeRaw`WITH event AS (INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
        SELECT ${app}, n::text, 'bench.happened', json_build_object('id', n::text, 'type', 'bench.happened', 'timestamp',
          ${now}::text, 'data', json_build_object('member', 'anna', 'note', repeat('x', 200)))::text, ${now}::timestamptz
        FROM generate_series(${events + 1}::int, ${events + count}::int) n RETURNING id)
      INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", "createdAt", "nextAttemptAt")
      SELECT gen_random_uuid(), ${app}, id, (${to}::text[])[id::int % ${to.length}::int + 1], ${now}::timestamptz,
        ${now}::timestamptz FROM event`
    events += count
  }
  /** Publishes at a rate, or so that FULL are always pending; then waits for the rest. */
  async function deliver(rate: number | 'full', seconds: number) {
    delays.splice(0)
    let published = 0
    const [start, before] = [performance.now(), await cpuMs(child.pid!)]
    for (let elapsed = 0; elapsed < seconds * 1_000; elapsed = performance.now() - start) {
      const wanted = rate === 'full' ? delays.length + FULL : Math.floor((elapsed * rate) / 1_000)
      // At the full rate, thousands at a time.
      if (wanted - published > (rate === 'full' ? FULL / 2 : 0)) {
        const due = wanted - published
        published = wanted
        await publish(LIVE, due)
      }
      await pause(20)
    }
    const perSecond = (1_000 * delays.length) / (performance.now() - start)
    const cpu = (1_000 * ((await cpuMs(child.pid!)) - before)) / delays.length
    await until(
      async () => delays.length,
      (count) => count === published,
    )
    const p99 = delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.99)]!
    return { perSecond, cpu, p50: median(delays), p99 }
  }
  /** Resolves once each silent receiver has got a request. */
  async function callSilent() {
    await publish(SILENT, SILENT.length * 5)
    await until(
      async () => silent.received.length,
      (count) => count >= SILENT.length,
    )
  }
  return { deliver, callSilent }
}

const names = ['alone', 'beside silent receivers'] as const
type Name = (typeof names)[number]
type Delivered = Awaited<ReturnType<Awaited<ReturnType<typeof openQueue>>['deliver']>>

it('a worker delivers 500 a second, and beside 1,000 receivers that never respond nine tenths of what it can', async () => {
  const queues = { alone: await openQueue(), 'beside silent receivers': await openQueue() }
  const note = (of: string, name: string, value: number, unit: string) =>
    noteFigure({ name: `deliveries ${of}, ${name}`, value, unit })
  for (const name of names) {
    // Compiles code, opens connections, makes the subscriptions healthy, and ends the rest of up to five seconds between looks.
    await queues[name].deliver('full', 3)
    if (name !== 'alone') await queues[name].callSilent()
    const steady = await queues[name].deliver(RATE, SECONDS)
    note(name, 'p50', steady.p50, 'ms')
    note(name, 'p99', steady.p99, 'ms')
    note(name, 'CPU of the worker at 500 a second', steady.cpu, 'µs')
    if (name === 'alone') expect.soft(steady.perSecond).toBeGreaterThan(RATE * 0.98)
  }
  // By turns, as the speed of a shared machine changes from one half minute to the next.
  const full = { alone: [], 'beside silent receivers': [] } as Record<Name, Delivered[]>
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      // A worker at rest looks every five seconds.
      await queues[name].deliver('full', 1)
      full[name].push(await queues[name].deliver('full', ROUND_SECONDS))
    }
  }
  for (const name of names) {
    note(name, 'CPU of the worker at the full rate', median(full[name].map(({ cpu }) => cpu)), 'µs')
    note(name, 'seconds of 1,000', 1_000 / median(full[name].map(({ perSecond }) => perSecond)), 's')
  }
  const slowdowns = full.alone.map(({ perSecond }, i) => perSecond / full['beside silent receivers'][i]!.perSecond)
  holdFigure('deliveries, slowed by silent receivers', median(slowdowns), '×', 1 / KEPT)
})
