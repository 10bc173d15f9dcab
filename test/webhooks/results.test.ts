import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { createAvailability } from '../../server/webhooks/availability.ts'
import type { Claimed } from '../../server/webhooks/queue.ts'
import { claim, pollDue, releaseExpired } from '../../server/webhooks/queue.ts'
import { createResultWriter } from '../../server/webhooks/result-writer.ts'
import type { Attempt } from '../../server/webhooks/results.ts'
import { failEnded, recordAttempts } from '../../server/webhooks/results.ts'
import { LEASE_MS } from '../../server/webhooks/worker.ts'
import type { QueueWorld } from './queue-world.ts'
import { startQueue } from './queue-world.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

type Outcome = Omit<Attempt, 'id' | 'lease' | 'at' | 'durationMs'>

const response = { retryAfterSeconds: null, gone: false }
const delivered: Outcome = {
  result: { ...response, status: 204, error: null, responseBody: '' },
  nextAttemptAt: null,
}
const failed: Outcome = {
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

const attempt = ({ id, lease }: Claimed, outcome: Outcome): Attempt => ({
  id,
  lease,
  at: NOW - 1_000,
  durationMs: 42,
  ...outcome,
})

async function claimed(world: QueueWorld, count: number, subscription?: string, lease = 'worker.1') {
  const id = subscription ?? (await world.subscribe())
  if (!subscription) await world.publish(id, { count, at: NOW - 1_000 })
  const rows = await claim(world.db, { now: NOW, lease, leaseMs: LEASE_MS, allocation: new Map([[id, count]]) })
  expect(rows).toHaveLength(count)
  return rows
}

describe('recording attempts', () => {
  it('writes many at once', async () => {
    const world = await startQueue()
    const [one, two, three] = await claimed(world, 3)
    const attempts = [attempt(one!, delivered), attempt(two!, failed), attempt(three!, timedOut)]
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
    const rows = await claimed(world, 4)
    const answers = ['"quoted", {braces} \\ and NULL', 'NULL', 'nul \0 and half a pair \ud800', 'ünï 🎾\n\t']
    await recordAttempts(
      world.db,
      NOW,
      rows.map((row, i) => attempt(row, { ...failed, result: { ...failed.result, responseBody: answers[i]! } })),
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
    const [late] = await claimed(world, 1)
    await releaseExpired(world.db, NOW + LEASE_MS)
    const free = await world.row(late!.id)
    for (const outcome of [delivered, failed, gone])
      expect(await recordAttempts(world.db, NOW, [attempt(late!, outcome)])).toEqual([])
    expect(await world.row(late!.id)).toEqual(free)

    const [successor] = await claimed(world, 1, late!.subscription, 'worker.2')
    const leased = await world.row(late!.id)
    for (const outcome of [delivered, failed, gone])
      expect(await recordAttempts(world.db, NOW, [attempt(late!, outcome)])).toEqual([])
    expect(await world.row(late!.id)).toEqual(leased)

    expect(await recordAttempts(world.db, NOW, [attempt(successor!, delivered)])).toEqual([late!.id])
    const done = await world.row(late!.id)
    for (const old of [late!, successor!])
      expect(await recordAttempts(world.db, NOW, [attempt(old, failed)])).toEqual([])
    expect(await world.row(late!.id)).toEqual(done)
    const subscription = await world.db.subscription.findUniqueOrThrow({ where: { id: late!.subscription } })
    expect(subscription.endedAt).toBeNull()
  })

  it('skips deliveries whose subscription was removed', async () => {
    const world = await startQueue()
    const [one] = await claimed(world, 1)
    const [other] = await claimed(world, 1, undefined, 'worker.2')
    await world.db.subscription.delete({ where: { id: one!.subscription } })
    expect(await recordAttempts(world.db, NOW, [attempt(one!, failed), attempt(other!, delivered)])).toEqual([
      other!.id,
    ])
    expect(await world.states()).toEqual({ delivered: 1 })
  })
})

describe('a result writer', () => {
  it('writes all that is pending when it closes, however many batches it takes', async () => {
    const world = await startQueue()
    const log = pino({ level: 'silent' })
    const options = { log, availability: createAvailability(log), retryMs: 1_000 }
    const writer = createResultWriter({ ...options, db: world.db, now: () => NOW })
    for (const one of await claimed(world, 250)) writer.add(attempt(one, delivered))
    await writer.close()
    expect(writer.pending()).toBe(0)
    expect(await world.states()).toEqual({ delivered: 250 })
  })
})

describe('a 410', () => {
  it('ends the subscription and fails its other pending deliveries', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    const other = await world.subscribe()
    await world.publish(subscription, { count: 1_500, at: NOW - 9_000 })
    const [untouched] = await world.publish(other, { at: NOW - 9_000 })
    const [one, two, three] = await claimed(world, 3, subscription)
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
    await recordAttempts(world.db, NOW, [attempt(three!, failed)])
    expect(await pollDue(world.db, { now: NOW })).toMatchObject({ ended: [subscription] })
    await failEnded(world.db, NOW + 1, [subscription])
    const row = { state: 'failed', attempts: 1, lastStatus: 500, lastError: 'the subscription has ended' }
    expect(await world.row(three!.id)).toMatchObject({ ...row, nextAttemptAt: null, finishedAt: new Date(NOW + 1) })
    expect(await world.row(untouched)).toMatchObject({ state: 'pending', lastError: null })
    expect(await pollDue(world.db, { now: NOW })).toMatchObject({ ended: [] })
  })

  it('keeps the time of the first 410', async () => {
    const world = await startQueue()
    const [one, two] = await claimed(world, 2)
    await recordAttempts(world.db, NOW, [attempt(one!, gone)])
    await recordAttempts(world.db, NOW + 1_000, [attempt(two!, gone)])
    const { endedAt } = await world.db.subscription.findUniqueOrThrow({ where: { id: one!.subscription } })
    expect(endedAt).toEqual(new Date(NOW))
    expect(await world.states()).toEqual({ failed: 2 })
  })
})
