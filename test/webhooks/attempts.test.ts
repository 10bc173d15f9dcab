import { createHmac } from 'node:crypto'
import pino from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { retryStatement } from '../../routers/webhooks/deliveries/retry.ts'
import { createAttempt } from '../../server/webhooks/attempt.ts'
import { createAvailability } from '../../server/webhooks/availability.ts'
import { dueFigures } from '../../server/webhooks/due-figures.ts'
import type { Claimed } from '../../server/webhooks/queue.ts'
import { claim, pollDue, release, releaseExpired } from '../../server/webhooks/queue.ts'
import { createResultWriter } from '../../server/webhooks/result-writer.ts'
import type { Attempt } from '../../server/webhooks/results.ts'
import { failEnded, recordAttempts } from '../../server/webhooks/results.ts'
import { createSender } from '../../server/webhooks/send/send.ts'
import { LEASE_MS } from '../../server/webhooks/worker.ts'
import type { QueueWorld } from './queue-world.ts'
import { startQueue } from './queue-world.ts'
import { answering, holding, receiver, startWorkers } from './worker-world.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const HOUR_MS = 3_600_000
const MB = 1_000_000

describe('an attempt', () => {
  it('is stored with its time, duration, status and response, and so is the next one', async () => {
    const to = await receiver(answering([500, 200]))
    const { subscribe, publish, row, history, now, advance, lines } = await startWorkers()
    const before = now()
    const [id] = await publish(await subscribe(to.url()))
    await expect.poll(() => row(id)).toMatchObject({ attempts: 1, lease: null })
    advance(HOUR_MS)
    await expect.poll(() => row(id)).toMatchObject({ state: 'delivered' })
    const attempts = await history(id)
    expect(attempts).toEqual([
      { number: 1, at: expect.any(Date), durationMs: lines()[0].ms, status: 500, error: 'status 500', answer: 'said' },
      { number: 2, at: expect.any(Date), durationMs: lines()[1].ms, status: 200, error: null, answer: 'said' },
    ])
    const [first, second] = attempts.map(({ at }) => at.getTime())
    expect(first).toBeGreaterThanOrEqual(before)
    expect(second).toBeGreaterThanOrEqual(first! + HOUR_MS)
    expect((await row(id)).lastAttemptAt).toEqual(attempts[1]!.at)
  })

  it('has no status and no response where nothing listens', async () => {
    const closed = await receiver()
    const url = closed.url()
    await closed.close()
    const { subscribe, publish, row, history } = await startWorkers()
    const [id] = await publish(await subscribe(url))
    await expect.poll(() => row(id)).toMatchObject({ attempts: 1 })
    expect(await history(id)).toMatchObject([{ number: 1, status: null, error: 'ECONNREFUSED', answer: null }])
  })

  it('has no status and no response of a receiver that exceeds the time limit', async () => {
    const to = await receiver(holding().answer)
    const { subscribe, publish, row, history } = await startWorkers({ timeouts: { totalMs: 50 } })
    const [id] = await publish(await subscribe(to.url()))
    await expect.poll(() => row(id)).toMatchObject({ attempts: 1 })
    expect(await history(id)).toMatchObject([{ status: null, error: 'timeout', answer: null }])
  })

  it.each([
    ['10 MB', 'x'.repeat(10 * MB), 'x'.repeat(1_024)],
    ['NUL and invalid UTF-8', Buffer.from([0x61, 0, 0xff, 0x62]), 'a\ufffdb'],
    ['1 KiB of invalid UTF-8, longer when decoded', Buffer.alloc(1_024, 0xff), '\ufffd'.repeat(341)],
    ['quotes and braces', '{"a",\\NULL}', '{"a",\\NULL}'],
  ])('has the first 1 KiB of the response as text: %s', async (_which, body, answer) => {
    const to = await receiver((_received, response) => response.writeHead(200).end(body))
    const { subscribe, publish, row, history } = await startWorkers()
    const [id] = await publish(await subscribe(to.url()))
    await expect.poll(() => row(id)).toMatchObject({ state: 'delivered' })
    expect(await history(id)).toMatchObject([{ status: 200, error: null, answer }])
  })
})

describe('an attempt with a former secret', () => {
  it('is signed with both until the former one ends, and then with the present one alone', async () => {
    const to = await receiver(answering([500, 500, 204]))
    const { db, cipher, subscribe, publish } = await startQueue()
    const id = await subscribe(to.url(), 'present')
    const formerUntil = new Date(NOW)
    const formerSecret = cipher.encrypt('former', `Subscription.formerSecret:${id}`)
    await db.subscription.update({ where: { id }, data: { formerSecret, formerUntil } })
    const [delivery] = await publish(id)
    const sender = createSender({ allow: ['127.0.0.1'], now: () => NOW, ca: to.ca })
    onTestFinished(() => sender.close())
    for (const now of [NOW - 1, NOW]) {
      const attempt = createAttempt({ sender, cipher, now: () => now, log: pino({ level: 'silent' }) })
      const [row] = await claim(db, { now, lease: `at ${now}`, leaseMs: 1, allocation: new Map([[id, 1]]) })
      expect(row).toMatchObject({ id: delivery, formerUntil })
      await attempt(row!)
      await release(db, [row!])
    }
    const verifies = (secret: string) =>
      to.received.map(({ headers, body }) => {
        const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
        const mac = createHmac('sha256', secret).update(signed).digest('base64')
        return String(headers['webhook-signature']).split(' ').includes(`v1,${mac}`)
      })
    expect([verifies('present'), verifies('former')]).toEqual([
      [true, true],
      [true, false],
    ])
    expect(to.received.map(({ headers }) => headers['x-webhook-secret'])).toEqual(['present', 'present'])
  })

  it('is signed with the secrets of its own time, also in a retry', async () => {
    const to = await receiver(answering([500, 204]))
    const { db, cipher, subscribe, publish, row, advance } = await startWorkers()
    const id = await subscribe(to.url(), 'first')
    const [delivery] = await publish(id)
    await expect.poll(() => row(delivery)).toMatchObject({ attempts: 1, lease: null })
    const secret = cipher.encrypt('second', `Subscription.secret:${id}`)
    await db.subscription.update({ where: { id }, data: { secret } })
    advance(HOUR_MS)
    await expect.poll(() => row(delivery)).toMatchObject({ state: 'delivered' })
    expect(to.received.map(({ headers }) => headers['x-webhook-secret'])).toEqual(['first', 'second'])
  })

  it('fails, to be retried, while no key decrypts the former one', async () => {
    const to = await receiver()
    const { db, subscribe, publish, row } = await startWorkers()
    const id = await subscribe(to.url(), 'present')
    await db.subscription.update({ where: { id }, data: { formerSecret: 'x', formerUntil: new Date('9000-01-01') } })
    const [delivery] = await publish(id)
    await expect
      .poll(() => row(delivery))
      .toMatchObject({
        state: 'pending',
        attempts: 1,
        lastError: 'the secret cannot be decrypted',
      })
    expect(to.received).toEqual([])
  })
})

type Result = Attempt['result']
const failed: Result = { status: 500, error: 'status 500', responseBody: 'oh', retryAfterSeconds: null, gone: false }

/** Attempts what is due of the subscription `times` times; each attempt fails and leaves it due. */
async function fail(world: QueueWorld, subscription: string, times: number) {
  for (let time = 0; time < times; time++) {
    const rows = await claimed(world, subscription)
    await record(world, rows)
  }
}

const claimed = ({ db }: QueueWorld, subscription: string) =>
  claim(db, { now: NOW, lease: 'worker', leaseMs: 1_000, allocation: new Map([[subscription, 10]]) })

const record = ({ db }: QueueWorld, rows: readonly Claimed[]) => {
  const made = { at: NOW, durationMs: 42, result: failed, nextAttemptAt: NOW }
  return recordAttempts(
    db,
    NOW,
    rows.map(({ id, lease, url }) => ({ id, lease, url, ...made })),
  )
}

describe('the attempts of a delivery', () => {
  it('continue their numbers after a retry that starts over', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    const [id] = await world.publish(subscription)
    await fail(world, subscription, 2)
    await world.db.delivery.update({ where: { id: id! }, data: { attempts: 0 } })
    await fail(world, subscription, 1)
    expect(await world.row(id)).toMatchObject({ attempts: 1 })
    expect((await world.history(id)).map(({ number }) => number)).toEqual([1, 2, 3])
  })

  it('count those of a worker that has stored only their number', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    const [id] = await world.publish(subscription)
    await world.db.delivery.update({ where: { id: id! }, data: { attempts: 3 } })
    await fail(world, subscription, 2)
    expect((await world.history(id)).map(({ number }) => number)).toEqual([4, 5])
  })

  it('are the last 50, of each in a batch', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    const [long, short] = await world.publish(subscription, { count: 2 })
    await world.db.delivery.update({ where: { id: long! }, data: { attempts: 10 } })
    await fail(world, subscription, 51)
    const numbers = async (id: string | undefined) => (await world.history(id)).map(({ number }) => number)
    expect(await numbers(long)).toEqual(Array.from({ length: 50 }, (_, n) => n + 12))
    expect(await numbers(short)).toEqual(Array.from({ length: 50 }, (_, n) => n + 2))
  })

  it('do not include one whose lease was lost', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    const [id] = await world.publish(subscription)
    const rows = await claimed(world, subscription)
    await world.db.delivery.update({ where: { id: id! }, data: { lease: null, leasedUntil: null } })
    expect(await record(world, rows)).toEqual([])
    expect(await world.history(id)).toEqual([])
  })

  it('go with their delivery', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    await world.publish(subscription, { count: 3 })
    await fail(world, subscription, 1)
    expect(await world.db.deliveryAttempt.count()).toBe(3)
    await world.db.subscription.delete({ where: { id: subscription } })
    expect(await world.db.deliveryAttempt.count()).toBe(0)
  })
})

type Outcome = Omit<Attempt, 'id' | 'lease' | 'url' | 'at' | 'durationMs'>

const response = { retryAfterSeconds: null, gone: false }
const delivered: Outcome = {
  result: { ...response, status: 204, error: null, responseBody: '' },
  nextAttemptAt: null,
}
const failedOutcome: Outcome = {
  result: { ...response, status: 500, error: 'status 500', responseBody: 'oh' },
  nextAttemptAt: NOW + 5_000,
}
const timedOut: Outcome = {
  result: { ...response, status: null, error: 'timeout', responseBody: null },
  nextAttemptAt: null,
}
const gone: Outcome = {
  result: { ...response, status: 410, error: 'status 410', responseBody: 'bye', gone: true },
  nextAttemptAt: null,
}

const attempt = ({ id, lease, url }: Claimed, outcome: Outcome): Attempt => ({
  id,
  lease,
  url,
  at: NOW - 1_000,
  durationMs: 42,
  ...outcome,
})

async function claimedDeliveries(world: QueueWorld, count: number, subscription?: string, lease = 'worker.1') {
  const id = subscription ?? (await world.subscribe())
  if (!subscription) await world.publish(id, { count, at: NOW - 1_000 })
  const rows = await claim(world.db, { now: NOW, lease, leaseMs: LEASE_MS, allocation: new Map([[id, count]]) })
  expect(rows).toHaveLength(count)
  return rows
}

describe('recording attempts', () => {
  it('writes many at once', async () => {
    const world = await startQueue()
    const [one, two, three] = await claimedDeliveries(world, 3)
    const attempts = [attempt(one!, delivered), attempt(two!, failedOutcome), attempt(three!, timedOut)]
    expect(new Set(await recordAttempts(world.db, NOW, attempts))).toEqual(new Set([one!.id, two!.id, three!.id]))

    const common = { attempts: 1, lease: null, leasedUntil: null }
    const finished = { ...common, nextAttemptAt: null, finishedAt: new Date(NOW) }
    const response204 = { lastStatus: 204, lastError: null, lastAnswer: '' }
    expect(await world.row(one!.id)).toMatchObject({ ...finished, ...response204, state: 'delivered' })
    expect(await world.row(two!.id)).toMatchObject({
      ...common,
      state: 'pending',
      lastStatus: 500,
      lastError: 'status 500',
      lastAnswer: 'oh',
      nextAttemptAt: new Date(NOW + 5_000),
      finishedAt: null,
    })
    const noResponse = { lastStatus: null, lastError: 'timeout', lastAnswer: null }
    expect(await world.row(three!.id)).toMatchObject({ ...finished, ...noResponse, state: 'failed' })
  })

  it('stores any response body', async () => {
    const world = await startQueue()
    const rows = await claimedDeliveries(world, 4)
    const answers = ['"quoted", {braces} \\ and NULL', 'NULL', 'nul \0 and half a pair \ud800', 'ünï 🎾\n\t']
    await recordAttempts(
      world.db,
      NOW,
      rows.map((row, i) =>
        attempt(row, { ...failedOutcome, result: { ...failedOutcome.result, responseBody: answers[i]! } }),
      ),
    )
    const kept = await Promise.all(rows.map(({ id }) => world.row(id)))
    expect(kept.map(({ lastAnswer }) => lastAnswer)).toEqual([
      answers[0],
      answers[1],
      'nul \ufffd and half a pair \ufffd',
      answers[3],
    ])
  })

  it('changes nothing once the lease is lost', async () => {
    const world = await startQueue()
    const [late] = await claimedDeliveries(world, 1)
    await releaseExpired(world.db, NOW + LEASE_MS)
    const free = await world.row(late!.id)
    for (const outcome of [delivered, failedOutcome, gone])
      expect(await recordAttempts(world.db, NOW, [attempt(late!, outcome)])).toEqual([])
    expect(await world.row(late!.id)).toEqual(free)

    const [successor] = await claimedDeliveries(world, 1, late!.subscription, 'worker.2')
    const leased = await world.row(late!.id)
    for (const outcome of [delivered, failedOutcome, gone])
      expect(await recordAttempts(world.db, NOW, [attempt(late!, outcome)])).toEqual([])
    expect(await world.row(late!.id)).toEqual(leased)

    expect(await recordAttempts(world.db, NOW, [attempt(successor!, delivered)])).toEqual([late!.id])
    const done = await world.row(late!.id)
    for (const old of [late!, successor!])
      expect(await recordAttempts(world.db, NOW, [attempt(old, failedOutcome)])).toEqual([])
    expect(await world.row(late!.id)).toEqual(done)
    const subscription = await world.db.subscription.findUniqueOrThrow({ where: { id: late!.subscription } })
    expect(subscription.endedAt).toBeNull()
  })

  it('skips deliveries whose subscription was removed', async () => {
    const world = await startQueue()
    const [one] = await claimedDeliveries(world, 1)
    const [other] = await claimedDeliveries(world, 1, undefined, 'worker.2')
    await world.db.subscription.delete({ where: { id: one!.subscription } })
    expect(await recordAttempts(world.db, NOW, [attempt(one!, failedOutcome), attempt(other!, delivered)])).toEqual([
      other!.id,
    ])
    expect(await world.states()).toEqual({ delivered: 1 })
  })
})

describe('a retry by hand while an attempt is in flight', () => {
  const AT_ONCE = new Date(0)
  const retry = retryStatement('suite_retry', '"App".id = $owner')
  const retryIn = (world: QueueWorld, id: string) => world.db.execute(retry, { id, owner: world.app })

  it.each([
    ['fails', failedOutcome, { state: 'pending', nextAttemptAt: AT_ONCE, finishedAt: null }],
    ['fails as the last one', timedOut, { state: 'pending', nextAttemptAt: AT_ONCE, finishedAt: null }],
    ['arrives', delivered, { state: 'delivered', nextAttemptAt: null }],
    ['is answered by 410', gone, { state: 'failed', nextAttemptAt: null }],
  ])('is made once that %s, unless it is needless', async (_, outcome, row) => {
    const world = await startQueue()
    const [one] = await claimedDeliveries(world, 1)
    await retryIn(world, one!.id)
    await recordAttempts(world.db, NOW, [attempt(one!, outcome)])
    expect(await world.row(one!.id)).toMatchObject({ ...row, attempts: 1, lease: null })
  })

  it('is one more where that attempt was a retry itself, which is followed by the schedule', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    const [id] = await world.publish(subscription)
    for (const next of [AT_ONCE, failedOutcome.nextAttemptAt!]) {
      await retryIn(world, id!)
      const [again] = await claimedDeliveries(world, 1, subscription)
      if (next === AT_ONCE) await retryIn(world, id!)
      await recordAttempts(world.db, NOW, [attempt(again!, failedOutcome)])
      expect((await world.row(id)).nextAttemptAt).toEqual(new Date(next))
    }
  })

  it('stays the first of its subscription when its worker releases it', async () => {
    const world = await startQueue()
    const [one, two] = await claimedDeliveries(world, 2)
    await release(world.db, [one!, two!])
    const { nextAttemptAt } = await world.row(one!.id)
    await retryIn(world, two!.id)
    await release(world.db, await claimedDeliveries(world, 2, one!.subscription))
    expect((await world.row(two!.id)).nextAttemptAt).toEqual(AT_ONCE)
    expect((await world.row(one!.id)).nextAttemptAt).toEqual(nextAttemptAt)
  })

  it('stays the first of its subscription when its worker dies, and is not late', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    const [, id] = await world.publish(subscription, { count: 3, at: NOW - 60_000 })
    await retryIn(world, id!)
    for (const lease of ['worker.1', 'worker.2']) {
      expect((await pollDue(world.db, { now: NOW })).due).toMatchObject([{ id: subscription, retried: true }])
      expect(await dueFigures(world.db, NOW)).toEqual({ count: 3, oldestSeconds: 60 })
      expect(await claimedDeliveries(world, 1, subscription, lease)).toMatchObject([{ id, retried: true }])
      expect(await releaseExpired(world.db, NOW + LEASE_MS)).toBe(1)
    }
  })
})

describe('a result writer', () => {
  it('writes all that is pending when it closes, however many batches it takes', async () => {
    const world = await startQueue()
    const log = pino({ level: 'silent' })
    const options = { log, availability: createAvailability(log), retryMs: 1_000 }
    const writer = createResultWriter({ ...options, db: world.db, now: () => NOW })
    for (const one of await claimedDeliveries(world, 250)) writer.add(attempt(one, delivered))
    await writer.close()
    expect(writer.pending()).toBe(0)
    expect(await world.states()).toEqual({ delivered: 250 })
  })

  it.each(['55P03', '25P04', '40001', '40P01'])('keeps its results after %s, and writes them later', async (code) => {
    const world = await startQueue()
    const claimed = await claimedDeliveries(world, 2)
    await world.db.$executeRawUnsafe(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}'; END $$`)
    await world.db.$executeRaw`CREATE TRIGGER refuse BEFORE UPDATE ON "Delivery" EXECUTE FUNCTION refuse()`
    const log = pino({ level: 'silent' })
    const options = { log, availability: createAvailability(log), retryMs: 1_000 }
    const writer = createResultWriter({ ...options, db: world.db, now: () => NOW })
    for (const one of claimed) writer.add(attempt(one, delivered))
    const closed = writer.close()
    await closed.catch(() => {}).finally(() => world.db.$executeRaw`DROP TRIGGER refuse ON "Delivery"`)
    await expect(closed).rejects.toMatchObject({ code })
    expect(writer.pending()).toBe(2)
    await writer.close()
    expect(await world.states()).toEqual({ delivered: 2 })
  })
})

describe('a 410', () => {
  it('ends the subscription and fails its other pending deliveries', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    const other = await world.subscribe()
    await world.publish(subscription, { count: 1_500, at: NOW - 9_000 })
    const [untouched] = await world.publish(other, { at: NOW - 9_000 })
    const [one, two, three] = await claimedDeliveries(world, 3, subscription)
    await recordAttempts(world.db, NOW, [attempt(one!, gone), attempt(two!, delivered)])

    expect((await world.db.subscription.findUniqueOrThrow({ where: { id: subscription } })).endedAt).toEqual(
      new Date(NOW),
    )
    expect(await world.row(one!.id)).toMatchObject({ state: 'failed', lastStatus: 410, attempts: 1 })
    expect(await pollDue(world.db, { now: NOW })).toMatchObject({ due: [{ id: other }], ended: [subscription] })
    expect(await failEnded(world.db, NOW, [subscription, other])).toBe(true)
    expect(await failEnded(world.db, NOW, [subscription, other])).toBe(false)
    expect(await world.row(three!.id)).toMatchObject({ state: 'pending', lease: 'worker.1' })
    expect(await world.states()).toEqual({ delivered: 1, failed: 1_498, pending: 2 })

    // The one in flight is failed after its own result is written.
    await recordAttempts(world.db, NOW, [attempt(three!, failedOutcome)])
    expect(await pollDue(world.db, { now: NOW })).toMatchObject({ ended: [subscription] })
    await failEnded(world.db, NOW + 1, [subscription])
    const row = { state: 'failed', attempts: 1, lastStatus: 500, lastError: 'the subscription has ended' }
    expect(await world.row(three!.id)).toMatchObject({ ...row, nextAttemptAt: null, finishedAt: new Date(NOW + 1) })
    expect(await world.row(untouched)).toMatchObject({ state: 'pending', lastError: null })
    expect(await pollDue(world.db, { now: NOW })).toMatchObject({ ended: [] })
  })

  it('of a former url ends nothing, and its delivery goes to the present one at once', async () => {
    const world = await startQueue()
    const [one, two] = await claimedDeliveries(world, 2)
    const where = { id: one!.subscription }
    await world.db.subscription.update({ where, data: { url: 'https://127.0.0.1/new' } })
    await recordAttempts(world.db, NOW, [attempt(one!, gone), attempt(two!, delivered)])
    expect((await world.db.subscription.findUniqueOrThrow({ where })).endedAt).toBeNull()
    const row = { state: 'pending', attempts: 1, lastStatus: 410, nextAttemptAt: new Date(NOW), finishedAt: null }
    expect(await world.row(one!.id)).toMatchObject({ ...row, lease: null })
    expect(await world.row(two!.id)).toMatchObject({ state: 'delivered' })
    const [again] = await claimedDeliveries(world, 1, one!.subscription, 'worker.2')
    expect(again).toMatchObject({ id: one!.id, url: 'https://127.0.0.1/new' })
    await recordAttempts(world.db, NOW, [attempt(again!, gone)])
    expect((await world.db.subscription.findUniqueOrThrow({ where })).endedAt).toEqual(new Date(NOW))
    expect(await world.row(one!.id)).toMatchObject({ state: 'failed', attempts: 2 })
  })

  it('keeps the time of the first 410', async () => {
    const world = await startQueue()
    const [one, two] = await claimedDeliveries(world, 2)
    await recordAttempts(world.db, NOW, [attempt(one!, gone)])
    await recordAttempts(world.db, NOW + 1_000, [attempt(two!, gone)])
    const { endedAt } = await world.db.subscription.findUniqueOrThrow({ where: { id: one!.subscription } })
    expect(endedAt).toEqual(new Date(NOW))
    expect(await world.states()).toEqual({ failed: 2 })
  })
})
