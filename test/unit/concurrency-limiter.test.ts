import { beforeEach, describe, expect, it } from 'vitest'
import type { ConcurrencyLimiter } from '../../server/webhooks/concurrency-limiter.ts'
import { createConcurrencyLimiter } from '../../server/webhooks/concurrency-limiter.ts'

const MINUTE_MS = 60_000

/** The current time. */
let at = 0
/** One with the limits of the worker. */
let limiter: ConcurrencyLimiter
beforeEach(() => {
  at = 1_000_000
  limiter = createConcurrencyLimiter()
})

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
/** Each of an app of its own. */
const withApps = (ids: string[], app?: string) => ids.map((id) => ({ id, app: app ?? id }))
const total = (allocation: Map<string, number>) => [...allocation.values()].reduce((sum, count) => sum + count, 0)

const freeFor = (limiter: ConcurrencyLimiter, id: string) => limiter.allocate(withApps([id]), 1_000, at).get(id) ?? 0

const start = (limiter: ConcurrencyLimiter, subscription: string, app = subscription) =>
  limiter.started({ subscription, app, body: '{}' }, at)

/** Makes attempts of `ms` that overlap: they start together and end together. */
function attempts(limiter: ConcurrencyLimiter, id: string, delivered: boolean, { count = 1, ms = 0 } = {}) {
  const slots = Array.from({ length: count }, () => start(limiter, id))
  at += ms
  for (const slot of slots) limiter.finished(slot, delivered, at)
}

/** Five successes in a row give a subscription its full concurrency. */
function makeHealthy(limiter: ConcurrencyLimiter, ...ids: string[]) {
  for (const id of ids) for (let i = 0; i < 5; i++) attempts(limiter, id, true)
}

/** Takes all slots that are free for these subscriptions in one allocation. */
const take = (limiter: ConcurrencyLimiter, ids: string[], app?: string) =>
  [...limiter.allocate(withApps(ids, app), 10_000, at)].flatMap(([id, count]) =>
    Array.from({ length: count }, () => start(limiter, id, app)),
  )

/** Lets time pass until the subscription may start a delivery; returns how long that took, to 10 ms. */
function readBackoff(limiter: ConcurrencyLimiter, id: string) {
  const start = at
  while (freeFor(limiter, id) === 0) at += 10
  return at - start
}

describe('the concurrency of a subscription', () => {
  it('starts at 1, doubles with each success up to 32, and is 1 again after a failure', () => {
    const seen = [freeFor(limiter, 'a')]
    for (let i = 0; i < 7; i++) {
      attempts(limiter, 'a', true)
      seen.push(freeFor(limiter, 'a'))
    }
    expect(seen).toEqual([1, 2, 4, 8, 16, 32, 32, 32])
    attempts(limiter, 'a', false)
    at += MINUTE_MS
    expect(freeFor(limiter, 'a')).toBe(1)
    attempts(limiter, 'a', true)
    expect(freeFor(limiter, 'a')).toBe(2)
  })

  it('counts the deliveries in flight', () => {
    makeHealthy(limiter, 'a')
    const slots = Array.from({ length: 30 }, () => start(limiter, 'a'))
    expect(freeFor(limiter, 'a')).toBe(2)
    for (const slot of slots) limiter.finished(slot, true, at)
    expect([freeFor(limiter, 'a'), limiter.inFlight()]).toEqual([32, 0])
  })

  it('is used up by a delivery that is still in flight after a failure', () => {
    makeHealthy(limiter, 'a')
    const [first, second] = [start(limiter, 'a'), start(limiter, 'a')]
    limiter.finished(first, false, at)
    at += MINUTE_MS
    expect(freeFor(limiter, 'a')).toBe(0)
    limiter.finished(second, false, at)
    at += MINUTE_MS
    expect(freeFor(limiter, 'a')).toBe(1)
  })

  it('starts at 1 again for a subscription that was forgotten', () => {
    const limiter = createConcurrencyLimiter({ remembered: 2 })
    makeHealthy(limiter, 'a', 'b', 'c')
    expect(freeFor(limiter, 'c')).toBe(32)
    expect(freeFor(limiter, 'a')).toBe(1)
  })
})

describe('the backoff of a subscription', () => {
  it('doubles with each failure up to a minute', () => {
    const seen = Array.from({ length: 12 }, () => {
      attempts(limiter, 'a', false)
      return readBackoff(limiter, 'a')
    })
    expect(seen).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000])
  })

  it('is short again after a success', () => {
    for (let i = 0; i < 12; i++) attempts(limiter, 'a', false)
    attempts(limiter, 'a', true)
    attempts(limiter, 'a', false)
    expect(readBackoff(limiter, 'a')).toBe(100)
  })

  it.each([
    { ms: 500, backoff: 2_000 },
    { ms: 5_000, backoff: 20_000 },
    { ms: 15_000, backoff: 60_000 },
  ])('is four times as long as a failed attempt of $ms ms', ({ ms, backoff }) => {
    const seen = Array.from({ length: 2 }, () => {
      attempts(limiter, 'a', false, { ms })
      return readBackoff(limiter, 'a')
    })
    expect(seen).toEqual([backoff, backoff])
  })

  it('counts attempts that were in flight together as one failure', () => {
    makeHealthy(limiter, 'a')
    attempts(limiter, 'a', false, { count: 32, ms: 10 })
    expect(readBackoff(limiter, 'a')).toBe(100)
  })
})

it.each([
  ['a new subscription', () => {}, true],
  ['a new one with a delivery in flight', (limiter) => start(limiter, 'a'), false],
  ['a healthy one at its limit', (limiter) => [makeHealthy(limiter, 'a'), take(limiter, ['a'])], true],
  ['one that backs off', (limiter) => attempts(limiter, 'a', false), false],
  ['one whose backoff is over', (limiter) => [attempts(limiter, 'a', false), readBackoff(limiter, 'a')], true],
] satisfies [string, (limiter: ConcurrencyLimiter) => unknown, boolean][])(
  'eligibility of %s',
  (_which, prepare, eligible) => {
    prepare(limiter)
    expect(limiter.isEligible('a', at)).toBe(eligible)
  },
)

describe('an allocation', () => {
  it('follows the given order up to its maximum', () => {
    makeHealthy(limiter, 'a', 'b')
    expect([...limiter.allocate(withApps(['new', 'b', 'a']), 40, at)]).toEqual([
      ['new', 1],
      ['b', 32],
      ['a', 7],
    ])
  })

  it('leaves slots that failing subscriptions cannot take to new ones, and slots that neither can to healthy ones', () => {
    const limiter = createConcurrencyLimiter({ connections: 10_000, bytes: 2 ** 40 })
    const failing = names('failing', 3_000)
    for (const id of failing) attempts(limiter, id, false)
    at += MINUTE_MS
    expect(take(limiter, failing)).toHaveLength(1_024)
    expect(take(limiter, names('new', 3_000))).toHaveLength(512)
    expect(limiter.inFlight()).toBe(1_536)

    makeHealthy(limiter, 'live')
    expect(freeFor(limiter, 'live')).toBe(16)
    expect(total(limiter.allocate(withApps([...failing, ...names('new', 3_000), 'live']), 1_000, at))).toBe(16)
  })

  it('never exceeds 2048 deliveries in flight, and leaves the last slots to more than a few subscriptions', () => {
    const limiter = createConcurrencyLimiter({ bytes: 2 ** 40 })
    const healthy = names('healthy', 2_000)
    makeHealthy(limiter, ...healthy)
    const slots = take(limiter, healthy)
    while (slots.length < 2_048) {
      const more = take(limiter, healthy)
      expect(more.length).toBeGreaterThan(0)
      slots.push(...more)
    }
    expect(limiter.inFlight()).toBe(2_048)
    expect(take(limiter, names('late', 10))).toEqual([])
    limiter.finished(slots.pop()!, true, at)
    expect(total(limiter.allocate(withApps(healthy.toReversed()), 1_000, at))).toBe(1)
  })

  it('includes at most eight new or failing subscriptions, wherever they stand', () => {
    const healthy = names('healthy', 3)
    makeHealthy(limiter, ...healthy)
    const [some, others] = [names('new', 20), names('other', 20)]
    const allocation = limiter.allocate(withApps([...some, ...healthy, ...others]), 1_000, at)
    expect([...allocation.keys()]).toEqual([...some.slice(0, 8), ...healthy])
    take(limiter, some)
    expect([...limiter.allocate(withApps([...some, ...others]), 1_000, at).keys()]).toEqual(some.slice(8, 16))
  })

  it.each([
    { inFlight: 0, each: 4 },
    { inFlight: 64, each: 2 },
    { inFlight: 120, each: 1 },
  ])('gives each subscription $each of 128 slots while $inFlight are in use', ({ inFlight, each }) => {
    const limiter = createConcurrencyLimiter({ total: 128, connections: 128 })
    makeHealthy(limiter, 'a', 'b')
    take(limiter, names('new', inFlight))
    expect([...limiter.allocate(withApps(['a', 'b']), 128, at).values()]).toEqual([each, each])
  })
})

describe('an app', () => {
  const unbounded = 2 ** 40
  const body = 'x'.repeat(1024)

  it.each([
    ['healthy', 1_024, 1_024],
    ['new', 768, 768],
    ['failing', 512, 512],
  ] as const)('alone has at most half of the slots of %s subscriptions', (health, count, more) => {
    const limiter = createConcurrencyLimiter({ connections: 10_000, bytes: unbounded })
    const ids = names('a', 3_000)
    for (const id of ids) {
      if (health !== 'new') attempts(limiter, id, health === 'healthy')
    }
    at += MINUTE_MS
    for (let taken = 1; taken > 0; ) taken = take(limiter, ids, 'app').length
    expect(limiter.inFlight()).toBe(count)
    // Every other app still finds slots.
    expect(take(limiter, names('b', 3_000), 'other').length).toBeGreaterThanOrEqual(more / 4)
  })

  it('may have half of the bodies in flight, as if the next one were as large as it can be', () => {
    const limiter = createConcurrencyLimiter({ bytes: 2 * 1024 * 1024 })
    makeHealthy(limiter, 'a', 'b')
    const free = (id: string) => limiter.allocate([{ id, app: id }], 100, at).get(id) ?? 0
    expect([free('a'), free('b')]).toEqual([4, 4])
    const slots = Array.from({ length: 512 }, () => limiter.started({ subscription: 'c', app: 'a', body }, at))
    // 0.5 MiB of `a`, 1.5 free.
    expect([free('a'), free('b')]).toEqual([2, 3])
    const more = Array.from({ length: 512 }, () => limiter.started({ subscription: 'c', app: 'a', body }, at))
    expect([free('a'), free('b')]).toEqual([0, 2])
    for (const slot of [...slots, ...more]) limiter.finished(slot, true, at)
    expect([free('a'), free('b')]).toEqual([4, 4])
  })
})
