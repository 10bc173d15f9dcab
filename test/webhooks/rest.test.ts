import { describe, expect, it, onTestFinished } from 'vitest'
import { DueWatch } from '../../routers/kernel/due-watch.ts'
import { openPostgresWakes } from '../../server/process/postgres-wakes.ts'
import { createDuePoller } from '../../server/webhooks/due-poller.ts'
import { claim } from '../../server/webhooks/queue.ts'
import { createScheduler } from '../../server/webhooks/scheduler.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { QueueWorld } from './queue-world.ts'
import { startQueue } from './queue-world.ts'
import { receiver, startWorkers } from './worker-world.ts'

const START = Date.parse('2026-11-24T12:00:00Z')
const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** The polls of a worker that claims nothing, in a minute of a clock that moves to the next poll: when, and by what statements. */
async function minuteOf({ databaseUrl }: QueueWorld, { isNotified }: { isNotified: boolean }) {
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
    const notified = await minuteOf(world, { isNotified: true })
    expect(notified.statements).toEqual(Array(12).fill('deliveries_poll'))
    const alone = await minuteOf(world, { isNotified: false })
    expect(alone.statements).toEqual(Array(60).fill('deliveries_poll'))
  })

  it('polls when the next delivery is due, and then each second until it is claimed', async () => {
    const world = await startQueue()
    const [first, second] = [await world.subscribe(), await world.subscribe()]
    await world.publish(first, { at: START + 57_300 })
    await world.publish(second, { at: START + HOUR_MS })
    const { polls } = await minuteOf(world, { isNotified: true })
    expect(polls.filter(({ due }) => due > 0).map(({ at }) => at)).toEqual([57_300, 58_300, 59_300])
    expect(polls).toHaveLength(12 + 3)
  })

  it('polls when a known change of a member takes effect', async () => {
    const world = await startQueue()
    const change = { clientId: '', organisationId: '', personId: 'rest', kind: 'left' as const }
    onTestFinished(async () => void (await world.db.memberChange.deleteMany({ where: { personId: 'rest' } })))
    await world.db.memberChange.create({ data: { ...change, at: new Date(START + 7_300) } })
    const { polls } = await minuteOf(world, { isNotified: true })
    expect(polls.map(({ at }) => at)).toContain(7_300)
  })

  it('polls each second while a delivery is in flight anywhere, which may have to be retried soon', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    await world.publish(subscription)
    await claim(world.db, { now: START, lease: 'x', leaseMs: HOUR_MS, allocation: new Map([[subscription, 1]]) })
    expect((await minuteOf(world, { isNotified: true })).polls).toHaveLength(60)
  })

  it('releases an expired lease, and polls again at once', async () => {
    const world = await startQueue()
    const subscription = await world.subscribe()
    await world.publish(subscription)
    await claim(world.db, { now: START, lease: 'x', leaseMs: 9_500, allocation: new Map([[subscription, 1]]) })
    const { polls } = await minuteOf(world, { isNotified: true })
    expect(polls.find(({ due }) => due > 0)!.at).toBe(10_020)
  })
})

it('a resting worker delivers at once what another process reports', async () => {
  const world = await startQueue()
  const [publishing, watch] = [new DueWatch(), new DueWatch()]
  for (const due of [publishing, watch]) {
    const wakes = openPostgresWakes(world.db, world.databaseUrl, { due })
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
