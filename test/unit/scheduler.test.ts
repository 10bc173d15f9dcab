import { describe, expect, it } from 'vitest'
import type { Scheduler } from '../../server/webhooks/scheduler.ts'
import { createScheduler } from '../../server/webhooks/scheduler.ts'
import { times } from '../support/rounds.ts'
import { createSimulation } from './scheduler-simulation.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const TIMEOUT_MS = 15_000

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const deliveries = (subscription: string, count: number, body = '{}') =>
  Array.from({ length: count }, () => ({ subscription, app: subscription, body }))
const withApps = (ids: string[]) => ids.map((id) => ({ id, app: id }))

/** A scheduler after its first poll, at time 0. */
function scheduling(...due: string[]) {
  const scheduler = createScheduler({ pollMs: SECOND_MS })
  scheduler.polled({ due: withApps(due), more: false, startedAt: 0, endedAt: 0 })
  return scheduler
}

/** Five successes give a subscription its full concurrency. */
function makeHealthy(scheduler: Scheduler, subscription: string) {
  for (const delivery of deliveries(subscription, 5)) scheduler.finished(scheduler.started(delivery, 0), true, 0)
}

it('a subscription that never responds holds one slot, a fifth of the time', () => {
  const world = createSimulation()
  const silent = world.subscribe('silent', { ms: TIMEOUT_MS, delivers: false })
  world.publish('silent', 500)
  world.run(60 * MINUTE_MS)
  expect(silent.maxInFlight).toBe(1)
  const part = silent.heldMs / (60 * MINUTE_MS)
  expect(part).toBeGreaterThan(0.19)
  expect(part).toBeLessThanOrEqual(0.2)
})

describe('fairness', () => {
  it.each([
    { others: '50 busy ones', count: 50, ms: 1_000, delivers: true },
    { others: '500 that fail', count: 500, ms: 5, delivers: false },
    { others: '2,000 that never respond', count: 2_000, ms: TIMEOUT_MS, delivers: false },
  ])('lets a healthy subscription start each delivery within 25 ms beside $others', ({ count, ms, delivers }) => {
    const world = createSimulation()
    for (const id of names('other', count)) {
      world.subscribe(id, { ms, delivers })
      world.publish(id, delivers ? 1_000 : 5)
    }
    const live = world.subscribe('live', { ms: 20, delivers: true })
    world.publish('live', 10)
    world.run(10 * SECOND_MS)
    expect(live.delivered).toBe(10)
    live.waits.length = 0
    const forMs = times(10, 4) * SECOND_MS
    for (let at = 0; at < forMs; at += 10) world.at(10 * SECOND_MS + at, () => world.publish('live'))
    world.run(forMs + SECOND_MS)
    expect(live.waits).toHaveLength(forMs / 10)
    expect(Math.max(...live.waits)).toBeLessThanOrEqual(25)
  })

  it.each([
    { subscriptions: 2, total: 2_048 },
    { subscriptions: 50, total: 128 },
    { subscriptions: 200, total: 128 },
  ])('serves $subscriptions busy subscriptions of an app equally with $total slots', ({ subscriptions, total }) => {
    const world = createSimulation({ limits: { total } })
    const busy = names('busy', subscriptions).map((id) => {
      const it = world.subscribe(id, { ms: 200, delivers: true, app: 'one' })
      // More than it gets done.
      world.publish(id, subscriptions > 4 ? 2_000 : 10_000)
      return it
    })
    world.run(times(60, 20) * SECOND_MS)
    const delivered = busy.map((it) => it.delivered)
    expect(Math.min(...delivered) / Math.max(...delivered)).toBeGreaterThan(0.9)
  })

  it('considers subscriptions in turn', () => {
    const busy = names('busy', 12)
    const scheduler = createScheduler({ pollMs: SECOND_MS })
    for (const id of busy) makeHealthy(scheduler, id)
    scheduler.polled({ due: withApps(busy), more: false, startedAt: 0, endedAt: 0 })
    const turns = [0, 1, 2, 3].map((at) => {
      const allocation = scheduler.allocate(at, 0)
      scheduler.claimed(at, allocation, deliveries('busy0', 1))
      return [...allocation.keys()]
    })
    expect(turns).toEqual([busy.slice(0, 4), busy.slice(4, 8), busy.slice(8, 12), busy.slice(0, 4)])
  })
})

describe('subscriptions whose deliveries another worker claims', () => {
  // Each allocation takes 8 new ones.
  it.each([
    { of: 'an app each', toApp: (id: string) => id },
    { of: 'one app', toApp: () => 'one' },
  ])('leave the next allocation to those that were not in it, of $of', ({ toApp }) => {
    const due = names('new', 24).map((id) => ({ id, app: toApp(id) }))
    const scheduler = createScheduler({ pollMs: SECOND_MS })
    scheduler.polled({ due, more: false, startedAt: 0, endedAt: 0 })
    const allocated = [0, 20, 40].flatMap((at) => {
      const allocation = scheduler.allocate(at, 0)
      scheduler.claimed(at, allocation, [])
      return [...allocation.keys()]
    })
    expect(allocated.toSorted()).toEqual(due.map(({ id }) => id).toSorted())
  })
})

describe('the next turn', () => {
  it.each([
    { claimed: 99, after: 20 },
    { claimed: 100, after: 0 },
  ])('is $after ms after a claim of $claimed deliveries', ({ claimed, after }) => {
    const scheduler = scheduling('a')
    const allocation = scheduler.allocate(5, 0)
    scheduler.claimed(5, allocation, deliveries('a', claimed))
    expect(scheduler.nextTurnAt()).toBe(5 + after)
  })

  it('is 20 ms after a slot became free, when something is due', () => {
    const scheduler = scheduling('a', 'b')
    scheduler.claimed(0, scheduler.allocate(0, 0), [...deliveries('a', 1), ...deliveries('b', 1)])
    const [slot] = [...deliveries('a', 1), ...deliveries('b', 1)].map((delivery) => scheduler.started(delivery, 0))
    // Only `b` is considered, and it has no free slot.
    expect(scheduler.allocate(20, 0).size).toBe(0)
    expect(scheduler.nextTurnAt()).toBe(scheduler.nextPollAt())
    scheduler.polled({ due: withApps(['c']), more: false, startedAt: 30, endedAt: 30 })
    scheduler.finished(slot!, true, 40)
    expect(scheduler.nextTurnAt()).toBe(50)
  })

  it('is the next poll when nothing is due', () => {
    const scheduler = scheduling()
    expect(scheduler.allocate(0, 0).size).toBe(0)
    expect(scheduler.nextTurnAt()).toBe(SECOND_MS)
  })

  it('is the next poll after a failure, and everything due is forgotten', () => {
    const scheduler = scheduling('a')
    scheduler.claimed(0, scheduler.allocate(0, 0), deliveries('a', 1))
    scheduler.failed(10)
    expect(scheduler.nextTurnAt()).toBe(10 + SECOND_MS)
    expect(scheduler.allocate(10, 0).size).toBe(0)
  })

  it('comes 20 ms after an allocation that considered 2,000 subscriptions in vain, and not all', () => {
    const busy = names('busy', 2_000)
    const scheduler = createScheduler({ pollMs: SECOND_MS, limits: { perSubscription: 1 } })
    for (const id of busy) makeHealthy(scheduler, id)
    for (const id of busy) scheduler.started({ subscription: id, app: id, body: '{}' }, 0)
    scheduler.polled({ due: withApps([...busy, 'free']), more: false, startedAt: 0, endedAt: 0 })
    expect(scheduler.allocate(0, 0).size).toBe(0)
    expect(scheduler.nextTurnAt()).toBe(20)
    expect([...scheduler.allocate(20, 0).keys()]).toEqual(['free'])
  })
})

describe('a due subscription', () => {
  it.each([
    { claimedAt: 499, due: true },
    { claimedAt: 500, due: false },
  ])('without claimed deliveries at $claimedAt ms is still due: $due', ({ claimedAt, due }) => {
    const scheduler = scheduling('a')
    scheduler.claimed(claimedAt, scheduler.allocate(claimedAt, 0), [])
    expect(scheduler.allocate(claimedAt, 0).has('a')).toBe(due)
  })

  it('stays due while deliveries of it are claimed', () => {
    const scheduler = scheduling('a')
    for (let at = 0; at < 5 * SECOND_MS; at += 400) {
      const allocation = scheduler.allocate(at, 0)
      expect(allocation.has('a')).toBe(true)
      scheduler.claimed(at, allocation, deliveries('a', 1))
    }
  })
})

describe('a delivery that somebody tries again', () => {
  it('is attempted once at the next poll though its subscription backs off, which then backs off longer', () => {
    const scheduler = scheduling('a')
    const fail = (at: number) =>
      scheduler.finished(scheduler.started({ subscription: 'a', app: 'a', body: '{}' }, at), false, at)
    const polled = (at: number, retried: boolean) => {
      scheduler.polled({ due: [{ id: 'a', app: 'a', retried }], more: false, startedAt: at, endedAt: at })
      return [...scheduler.allocate(at, 0)]
    }
    for (let n = 0; n < 8; n++) fail(0)
    expect(polled(12_799, false)).toEqual([])
    expect(polled(500, true)).toEqual([['a', 1]])
    fail(500)
    expect(polled(500 + 25_599, false)).toEqual([])
    expect(polled(500 + 25_600, false)).toEqual([['a', 1]])
  })

  it('waits while an attempt of its subscription, which fails, is under way', () => {
    const scheduler = scheduling('a')
    const delivery = { subscription: 'a', app: 'a', body: '{}' }
    const due = [{ id: 'a', app: 'a', retried: true }]
    const slot = scheduler.started(delivery, 0)
    scheduler.polled({ due, more: false, startedAt: 10, endedAt: 10 })
    expect(scheduler.allocate(10, 0).size).toBe(0)
    scheduler.finished(slot, false, 15_000)
    scheduler.polled({ due, more: false, startedAt: 15_010, endedAt: 15_010 })
    expect(scheduler.allocate(15_010, 0).get('a')).toBe(1)
  })
})

describe('an allocation', () => {
  it('is empty while bodies of 64 MiB are in flight', () => {
    const scheduler = scheduling('a')
    const body = 'x'.repeat(1024 * 1024)
    const slots = names('large', 64).map((subscription) =>
      scheduler.started({ subscription, app: subscription, body }, 0),
    )
    expect(scheduler.allocate(0, 0).size).toBe(0)
    scheduler.finished(slots[0]!, true, 0)
    expect(scheduler.allocate(0, 0).size).toBe(1)
  })

  it('is empty while over 4,096 results are not yet written', () => {
    const scheduler = scheduling('a')
    expect(scheduler.allocate(0, 4_097).size).toBe(0)
    expect(scheduler.allocate(0, 4_096).size).toBe(1)
  })
})

it('an idle worker polls once a second', () => {
  const world = createSimulation()
  world.run(MINUTE_MS)
  expect(world.polls()).toBe(60)
})

const large = 'x'.repeat(256 * 1024)

it.each([
  { count: 600, body: large, size: '256 KiB' },
  { count: 2_000, body: '{}', size: '2 bytes' },
])(
  'an app with many subscriptions that never respond does not delay the first delivery of another app by 500 ms: $count with bodies of $size',
  ({ count, body }) => {
    const world = createSimulation()
    for (const id of names('silent', count)) {
      world.subscribe(id, { ms: TIMEOUT_MS, delivers: false, app: 'hostile', body })
      world.publish(id, 5)
    }
    // At any time: while its share fills, while it is full, after the first attempts have failed.
    const neighbours = [0, 50, 500, 2_000, 5_000, 14_000, 16_000, 20_000, 30_000].map((at) => {
      const neighbour = world.subscribe(`at ${at}`, { ms: 20, delivers: true, body })
      world.at(at, () => world.publish(`at ${at}`))
      return neighbour
    })
    world.run(31 * SECOND_MS)
    const waits = neighbours.map(({ waits }) => waits[0])
    expect(waits).toHaveLength(9)
    for (const wait of waits) expect(wait).toBeLessThan(100)
  },
)

it('an app with one subscription keeps its throughput beside an app with 500 busy ones', () => {
  const deliveredBeside = (count: number) => {
    const world = createSimulation()
    for (const id of names('busy', count)) {
      world.subscribe(id, { ms: 200, delivers: true, app: 'busy' })
      world.publish(id, 500)
    }
    const one = world.subscribe('one', { ms: 200, delivers: true })
    world.publish('one', 10_000)
    world.run(20 * SECOND_MS)
    return one.delivered
  }
  const alone = deliveredBeside(0)
  expect(alone).toBeGreaterThan(2_000)
  expect(deliveredBeside(500) / alone).toBeGreaterThan(0.8)
})
