import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { DueWatch } from '../../routers/kernel/due-watch.ts'
import { retryStatement } from '../../routers/webhooks/deliveries/retry.ts'
import { openPostgresWakes } from '../../server/process/postgres-wakes.ts'
import { createDuePoller } from '../../server/webhooks/due-poller.ts'
import { purgeEvents } from '../../server/webhooks/purge.ts'
import { claim, pollDue, release, releaseExpired } from '../../server/webhooks/queue.ts'
import { createScheduler } from '../../server/webhooks/scheduler.ts'
import { LEASE_MS } from '../../server/webhooks/worker.ts'
import { direct } from '../support/addresses.ts'
import { pgClient } from '../support/pg-client.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { QueueWorld } from './queue-world.ts'
import { publisher, startQueue } from './queue-world.ts'
import { receiver, startWorkers } from './worker-world.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const HOUR_MS = 3_600_000

const claimFor = (
  { db }: QueueWorld,
  allocation: Record<string, number>,
  { now = NOW, lease = randomUUID() as string } = {},
) => claim(db, { now, lease, leaseMs: LEASE_MS, allocation: new Map(Object.entries(allocation)) })

const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id)

describe('a claim', () => {
  it('returns everything that an attempt needs, and leases the delivery', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe('https://receiver.example.org/hook', 'secret')
    const [id] = await world.publish(subscription, { at: NOW - 1_000, data: '{"n":1}' })
    const claimed = await claimFor(world, { [subscription]: 1 }, { lease: 'worker.1' })

    const { eventId, ...row } = await world.row(id)
    const body = `{"id":"${eventId}","type":"test.happened","timestamp":"2026-11-20T11:59:59.000Z","data":{"n":1}}`
    const { secret } = await world.db.subscription.findUniqueOrThrow({ where: { id: subscription } })
    const url = 'https://receiver.example.org/hook'
    const { app } = world
    expect(claimed).toEqual([
      {
        id,
        lease: 'worker.1',
        app,
        event: eventId,
        subscription,
        attempts: 0,
        retried: false,
        url,
        body,
        secret,
        formerSecret: null,
        formerUntil: null,
      },
    ])
    expect(world.cipher.decrypt(claimed[0]!.secret!, `Subscription.secret:${subscription}`)).toBe('secret')
    expect(row).toMatchObject({
      state: 'pending',
      lease: 'worker.1',
      leasedUntil: new Date(NOW + LEASE_MS),
      attempts: 0,
    })
    expect(row.nextAttemptAt).toEqual(new Date(NOW - 1_000))
  })

  it('takes at most the allocated number per subscription, oldest first, and only what is due', async () => {
    const world = await startQueue()
    const [a, b, c] = [await world.subscribe(), await world.subscribe(), await world.subscribe()]
    const late = await world.publish(a, { count: 3, at: NOW - 1_000 })
    const early = await world.publish(a, { count: 2, at: NOW - 9_000 })
    const ofB = await world.publish(b, { count: 2, at: NOW })
    const notYet = await world.publish(b, { at: NOW + 2 })
    const notAsked = await world.publish(c, { at: NOW - 1_000 })

    const claimed = await claimFor(world, { [a]: 4, [b]: 32 }, { now: NOW + 1 })
    expect(new Set(ids(claimed))).toEqual(new Set([...early, ...late.slice(0, 2), ...ofB]))
    for (const id of [late[2], ...notYet, ...notAsked]) expect((await world.row(id)).lease).toBeNull()
  })

  it('takes the oldest first, whatever plan PostgreSQL chooses', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    await world.publish(subscription, { count: 3, at: NOW - 1_000 })
    const early = await world.publish(subscription, { count: 2, at: NOW - 9_000 })
    // So it reads the table in the order of its rows, as it may read a small one.
    const url = new URL(direct(world.databaseUrl))
    url.searchParams.set('options', '-c enable_indexscan=off -c enable_bitmapscan=off')
    const db = openTestDatabase(url.href)
    onTestFinished(() => db.$disconnect())
    const claimed = await claimFor({ ...world, db }, { [subscription]: 2 })
    expect(new Set(ids(claimed))).toEqual(new Set(early))
  })

  it('takes nothing of a subscription that has ended, is unknown, or has nothing left', async () => {
    const world = await startQueue()
    const [ended, served] = [await world.subscribe(), await world.subscribe()]
    const [id] = await world.publish(ended)
    await world.publish(served)
    await world.db.subscription.update({ where: { id: ended }, data: { endedAt: new Date(NOW) } })
    expect(await claimFor(world, { [served]: 5 })).toHaveLength(1)
    expect(await claimFor(world, { [ended]: 5, [served]: 5, [randomUUID()]: 5 })).toEqual([])
    expect(await claimFor(world, {})).toEqual([])
    expect(await world.row(id)).toMatchObject({ state: 'pending', lease: null })
  })

  it('skips deliveries that are locked, without waiting', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    const [first, second] = await world.publish(subscription, { count: 2 })
    const other = pgClient(direct(world.databaseUrl))
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN')
    await other.query('SELECT FROM "Delivery" WHERE id = $1 FOR UPDATE', [first])
    expect(ids(await claimFor(world, { [subscription]: 2 }))).toEqual([second])
    await other.query('COMMIT')
    expect(ids(await claimFor(world, { [subscription]: 2 }))).toEqual([first])
  })
})

describe('a poll', () => {
  it('finds each subscription with due deliveries once, however many it has', async () => {
    const world = await startQueue()
    const [dead, live, later, idle] = await Promise.all(Array.from({ length: 4 }, () => world.subscribe()))
    await world.publish(dead!, { count: 2_000, at: NOW - HOUR_MS })
    await world.publish(live!, { at: NOW })
    const [due] = await world.publish(later!, { at: NOW + 1 })
    const { due: found, ...rest } = await pollDue(world.db, { now: NOW })
    expect(new Set(ids(found))).toEqual(new Set([dead, live]))
    expect(rest).toEqual({ ended: [], next: null, nextAt: NOW + 1, changed: false, leasedUntil: null })

    const after = await pollDue(world.db, { now: NOW + 1 })
    expect(new Set(ids(after.due))).toEqual(new Set([dead, live, later]))
    await claimFor(world, { [later!]: 1 }, { now: NOW + 1 })
    const { lease, leasedUntil } = await world.row(due)
    expect(lease).not.toBeNull()
    const last = await pollDue(world.db, { now: NOW + 1 })
    expect(ids(last.due)).not.toContain(later)
    expect([last.nextAt, last.leasedUntil]).toEqual([null, leasedUntil!.getTime()])
    expect(await pollDue(world.db, { now: NOW + 1, all: false })).toMatchObject({ leasedUntil: null })
    expect(ids(found)).not.toContain(idle)
  })

  it('finds addresses as subscriptions of their app, which share what the app may have in flight', async () => {
    const world = await startQueue()
    const other = await publisher(world.db, world.cipher)
    const addresses = await Promise.all(Array.from({ length: 10 }, () => world.subscribe()))
    const alone = await other.subscribe()
    await world.db.subscription.updateMany({ where: { id: { in: addresses } }, data: { address: true } })
    await world.publish(addresses, { count: 100 })
    await other.publish(alone, { count: 10 })
    const { due } = await pollDue(world.db, { now: NOW })
    const own = [...addresses.map((id) => ({ id, app: world.app })), { id: alone, app: other.app }]
    expect(new Set(due)).toEqual(new Set(own))
    const scheduler = createScheduler({ pollMs: 1_000, limits: { total: 8 } })
    scheduler.polled({ due, more: false, startedAt: 0, endedAt: 0 })
    const allocation = scheduler.allocate(0, 0)
    const ofAddresses = addresses.reduce((sum, id) => sum + (allocation.get(id) ?? 0), 0)
    expect([ofAddresses <= 4, allocation.has(alone)]).toEqual([true, true])
  })

  it('tells where somebody tries a delivery again, which is claimed before the others', async () => {
    const world = await startQueue()
    const [failing, other] = [await world.subscribe(), await world.subscribe()]
    const backlog = await world.publish(failing, { count: 3 })
    await world.publish(other)
    await world.db.execute(retryStatement('suite_retry', '"App".id = $owner'), { id: backlog[2]!, owner: world.app })
    const { due } = await pollDue(world.db, { now: NOW })
    expect(due.toSorted((a, b) => Number(a.id === other) - Number(b.id === other))).toEqual([
      { id: failing, app: world.app, retried: true },
      { id: other, app: world.app },
    ])
    expect(ids(await claimFor(world, { [failing]: 1 }))).toEqual([backlog[2]])
    expect((await pollDue(world.db, { now: NOW })).due).toContainEqual({ id: failing, app: world.app })
  })

  it('is bounded, and returns where the next one continues', async () => {
    const world = await startQueue()
    const all = await Promise.all(Array.from({ length: 5 }, () => world.subscribe()))
    for (const subscription of all) await world.publish(subscription, { count: 3 })
    const inOrder = all.toSorted()
    const first = await pollDue(world.db, { now: NOW, max: 2 })
    const second = await pollDue(world.db, { now: NOW, max: 2, after: first.next! })
    const third = await pollDue(world.db, { now: NOW, max: 2, after: second.next! })
    expect([first, second, third].map(({ due }) => ids(due).toSorted())).toEqual([
      inOrder.slice(0, 2),
      inOrder.slice(2, 4),
      inOrder.slice(4),
    ])
    expect(third.next).toBeNull()
    expect(await pollDue(world.db, { now: NOW, max: 2, after: inOrder[4]! })).toMatchObject({
      due: [],
      ended: [],
      next: null,
    })
  })

  it('lists ended subscriptions with pending deliveries separately, due or not', async () => {
    const world = await startQueue()
    const [ended, live] = [await world.subscribe(), await world.subscribe()]
    await world.publish(ended, { at: NOW + HOUR_MS })
    await world.publish(live)
    await world.db.subscription.update({ where: { id: ended }, data: { endedAt: new Date(NOW) } })
    expect(await pollDue(world.db, { now: NOW })).toMatchObject({
      due: [{ id: live, app: world.app }],
      ended: [ended],
      next: null,
      nextAt: null,
    })
  })
})

describe('a lease', () => {
  it('leaves the delivery due as before when it is released', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    await world.publish(subscription, { count: 2 })
    const claimed = await claimFor(world, { [subscription]: 2 })
    const before = await world.row(claimed[0]!.id)
    await release(world.db, claimed)
    expect(await world.row(claimed[0]!.id)).toEqual({ ...before, lease: null, leasedUntil: null })
    expect(ids(await claimFor(world, { [subscription]: 2 }))).toEqual(ids(claimed))
  })

  it('is not released by another worker', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    await world.publish(subscription)
    const [claimed] = await claimFor(world, { [subscription]: 1 }, { lease: 'one' })
    await release(world.db, [{ ...claimed!, lease: 'another' }])
    await release(world.db, [])
    expect(await world.row(claimed!.id)).toMatchObject({ lease: 'one' })
  })

  it('is released when it has expired, without counting an attempt', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    await world.publish(subscription, { count: 1_210 })
    const old = await claimFor(world, { [subscription]: 1_205 })
    const [young] = await claimFor(world, { [subscription]: 1 }, { now: NOW + 1, lease: 'young' })

    expect(await releaseExpired(world.db, NOW + LEASE_MS - 1)).toBe(0)
    expect(await releaseExpired(world.db, NOW + LEASE_MS)).toBe(1_205)
    expect(await world.row(old[0]!.id)).toMatchObject({ state: 'pending', attempts: 0, lease: null, leasedUntil: null })
    expect(await world.row(young!.id)).toMatchObject({ lease: 'young' })
    expect(await claimFor(world, { [subscription]: 2_000 })).toHaveLength(1_209)
  })
})

const START = Date.parse('2026-11-24T12:00:00Z')
const SECOND_MS = 1_000
const MINUTE_MS = 60_000

/** The polls of a worker that claims nothing, in a minute of a clock that moves to the next poll: when, and by what statements. */
async function runMinute({ databaseUrl }: QueueWorld, { isNotified }: { isNotified: boolean }) {
  const statements: string[] = []
  const none = () => {}
  const observer = { opened: none, waited: none, failed: none, timedOut: none, unconnected: none }
  const began = (name: string) => {
    statements.push(name)
    return undefined
  }
  const db = openTestDatabase(databaseUrl, { observer: { ...observer, began } })
  onTestFinished(() => db.$disconnect())
  let at = START
  const [clock, pollMs] = [() => at, SECOND_MS]
  const scheduler = createScheduler({ pollMs })
  const poll = createDuePoller({ db, now: clock, clock, pollMs, isNotified: () => isNotified })
  const polls: { at: number; due: number }[] = []
  while (scheduler.nextPollAt() < START + MINUTE_MS) {
    at = Math.max(at, scheduler.nextPollAt())
    const found = await poll()
    scheduler.polled(found)
    polls.push({ at: at - START, due: found.due.length })
  }
  return { polls, statements: statements.filter((name) => name !== 'connection') }
}

describe('a worker with nothing to do', () => {
  it('sends 12 statements a minute where other processes report what is due, and 60 elsewhere', async () => {
    const world = await startQueue()
    const notified = await runMinute(world, { isNotified: true })
    expect(notified.statements).toEqual(Array(12).fill('deliveries_poll'))
    const alone = await runMinute(world, { isNotified: false })
    expect(alone.statements).toEqual(Array(60).fill('deliveries_poll'))
  })

  it('polls when the next delivery is due, and then each second until it is claimed', async () => {
    const world = await startQueue()
    const [first, second] = [await world.subscribe(), await world.subscribe()]
    await world.publish(first, { at: START + 57_300 })
    await world.publish(second, { at: START + HOUR_MS })
    const { polls } = await runMinute(world, { isNotified: true })
    expect(polls.filter(({ due }) => due > 0).map(({ at }) => at)).toEqual([57_300, 58_300, 59_300])
    expect(polls).toHaveLength(12 + 3)
  })

  it('polls when a known change of a member takes effect', async () => {
    const world = await startQueue()
    const change = { clientId: '', organisationId: '', personId: 'rest', kind: 'left' as const }
    onTestFinished(async () => void (await world.db.memberChange.deleteMany({ where: { personId: 'rest' } })))
    await world.db.memberChange.create({ data: { ...change, at: new Date(START + 7_300) } })
    const { polls } = await runMinute(world, { isNotified: true })
    expect(polls.map(({ at }) => at)).toContain(7_300)
  })

  it('polls each second while a delivery is in flight anywhere, which may have to be retried soon', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    await world.publish(subscription)
    await claim(world.db, { now: START, lease: 'x', leaseMs: HOUR_MS, allocation: new Map([[subscription, 1]]) })
    expect((await runMinute(world, { isNotified: true })).polls).toHaveLength(60)
  })

  it('releases an expired lease, and polls again at once', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    await world.publish(subscription)
    await claim(world.db, { now: START, lease: 'x', leaseMs: 9_500, allocation: new Map([[subscription, 1]]) })
    const { polls } = await runMinute(world, { isNotified: true })
    expect(polls.find(({ due }) => due > 0)!.at).toBe(10_020)
  })
})

it('a resting worker delivers at once what another process reports', async () => {
  const world = await startQueue()
  const [publishing, watch] = [new DueWatch(), new DueWatch()]
  for (const due of [publishing, watch]) {
    const wakes = openPostgresWakes(world.db, direct(world.databaseUrl), { due })
    onTestFinished(wakes.close)
    await expect.poll(() => due.isNotified).toBe(true)
  }
  const to = await receiver()
  const { subscribe, publish, row } = await startWorkers({ pollMs: HOUR_MS, restMs: HOUR_MS, watch }, world)
  for (const path of ['/first', '/second']) {
    const [id] = await publish(await subscribe(to.url(path)))
    publishing.wake()
    await expect.poll(() => row(id)).toMatchObject({ state: 'delivered' })
  }
  expect(to.received.map(({ path }) => path)).toEqual(['/first', '/second'])
})

const MONTH_MS = 30 * 86_400_000

/** The rows that each step removed, until nothing is left. */
async function purge(db: Database, limit = 5_000): Promise<number[]> {
  const removed = await purgeEvents(db, NOW, { keepDays: 30, limit })
  expect(removed).toBeLessThanOrEqual(limit)
  return removed === 0 ? [] : [removed, ...(await purge(db, limit))]
}

describe('events over 30 days old', () => {
  it('are removed after another 30 days even while a delivery is pending', async () => {
    const { db, subscribe, publish } = await startQueue()
    const dead = await subscribe()
    await publish(dead, { count: 3, at: NOW - 2 * MONTH_MS - 10_000 })
    const [young] = await publish(dead, { at: NOW - 2 * MONTH_MS + 1 })
    expect(await purge(db, 4)).toEqual([4, 2])
    expect(ids(await db.delivery.findMany({ select: { id: true } }))).toEqual([young])
    expect(await db.publishedEvent.count()).toBe(1)
  })

  it('are read once where they are pending, not in each portion', async () => {
    const { db, subscribe, publish } = await startQueue()
    const to = await subscribe()
    await publish(to, { count: 30, at: NOW - MONTH_MS - 20_000 })
    const over = await publish(to, { count: 40, at: NOW - MONTH_MS - 10_000 })
    await db.delivery.updateMany({
      where: { id: { in: over } },
      data: { state: 'delivered', nextAttemptAt: null, finishedAt: new Date(NOW) },
    })
    let fromTheBeginning = 0
    const observed = {
      execute: (...[statement, values]: Parameters<Database['execute']>) => {
        if ((values as { afterAt?: string }).afterAt === '-infinity') fromTheBeginning++
        return db.execute(statement, values)
      },
    } as Database
    const removed = await purge(observed, 10)
    expect(removed.reduce((sum, rows) => sum + rows, 0)).toBe(80)
    expect(removed.length).toBeGreaterThan(7)
    // Perhaps once more, for what others had locked.
    expect(fromTheBeginning).toBeLessThanOrEqual(2)
    expect(await db.publishedEvent.count()).toBe(30)
  })

  it('are removed with their deliveries unless one of these is pending', async () => {
    const { db, subscribe, publish } = await startQueue()
    const [one, other] = [await subscribe(), await subscribe()]
    const over = { state: 'delivered', nextAttemptAt: null, finishedAt: new Date(NOW) } as const
    const old = await publish(one, { count: 1_200, at: NOW - MONTH_MS - 10_000 })
    await db.delivery.updateMany({ where: { id: { in: old } }, data: over })
    const failed = await publish(one, { at: NOW - MONTH_MS })
    await db.delivery.updateMany({ where: { id: { in: failed } }, data: { ...over, state: 'failed' } })
    // An event with one finished and one pending delivery.
    const [arrived] = await publish(one, { at: NOW - MONTH_MS - 5_000 })
    await db.delivery.update({ where: { id: arrived! }, data: over })
    const { appId, eventId } = await db.delivery.findUniqueOrThrow({ where: { id: arrived! } })
    const half = { appId, eventId, subscriptionId: other, createdAt: new Date(NOW), nextAttemptAt: new Date(NOW) }
    await db.delivery.create({ data: { id: 'half', ...half } })
    const [young] = await publish(one, { at: NOW - MONTH_MS + 1 })
    await db.delivery.update({ where: { id: young! }, data: over })
    const attempt = { number: 1, at: new Date(NOW), durationMs: 1, status: 204, answer: '' }
    await db.deliveryAttempt.createMany({
      data: [...old, 'half', young!].map((deliveryId) => ({ ...attempt, deliveryId })),
    })

    expect(await purge(db, 1_000)).toEqual([1_000, 1_000, 402])
    const left = await db.delivery.findMany({ select: { id: true } })
    expect(left.map(({ id }) => id).toSorted()).toEqual([arrived!, 'half', young!].toSorted())
    expect(await db.publishedEvent.count()).toBe(2)
    expect(await db.deliveryAttempt.count()).toBe(2)
    expect(await purge(db)).toEqual([])

    await db.delivery.update({ where: { id: 'half' }, data: { ...over, state: 'failed' } })
    expect(await purge(db)).toEqual([3])
    expect(await db.delivery.findMany({ select: { id: true } })).toEqual([{ id: young }])
  })

  it('are removed when they have more deliveries than one statement removes, or none', async () => {
    const { db, app, subscribe, publish } = await startQueue()
    const at = NOW - 2 * MONTH_MS
    const [id] = await publish(await subscribe(), { at })
    const { eventId, subscriptionId } = await db.delivery.findUniqueOrThrow({ where: { id: id! } })
    await db.$executeRaw`INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", state, "createdAt")
      SELECT 'd' || n, ${app}, ${eventId}, ${subscriptionId}, 'failed', now() FROM generate_series(1, 6000) n`
    await db.publishedEvent.create({
      data: { appId: app, id: 'alone', type: 't', body: '{}', publishedAt: new Date(at) },
    })
    await db.delivery.update({ where: { id: id! }, data: { state: 'delivered', nextAttemptAt: null } })
    expect(await purge(db)).toEqual([5_000, 1_003])
    expect([await db.delivery.count(), await db.publishedEvent.count()]).toEqual([0, 0])
  })
})
