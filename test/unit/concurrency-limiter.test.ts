import { beforeEach, describe, expect, it } from 'vitest'
import type { Lanes } from '../../server/webhooks/concurrency-limiter.ts'
import { createLanes } from '../../server/webhooks/concurrency-limiter.ts'

const MINUTE_MS = 60_000

let at: number
const now = () => at
beforeEach(() => {
  at = 1_000_000
})

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`)
const roomOf = (lanes: Lanes, id: string) => lanes.share([id], 1_000).get(id) ?? 0
const total = (shares: Map<string, number>) => [...shares.values()].reduce((sum, share) => sum + share, 0)

/** Takes all that is offered, and gives what ends it. */
function take(lanes: Lanes, ids: string[], limit = 10_000) {
  return [...lanes.share(ids, limit)].flatMap(([id, share]) => Array.from({ length: share }, () => lanes.begin(id)))
}

function prove(lanes: Lanes, id: string, successes = 5) {
  for (let i = 0; i < successes; i++) lanes.begin(id)(true)
}

/** One try after the other, each of so many ms; how long the rest was after each, to 10 ms. */
function restsAfter(lanes: Lanes, id: string, tries: number, ms: number) {
  return Array.from({ length: tries }, () => {
    const end = lanes.begin(id)
    at += ms
    end(false)
    const start = at
    while (roomOf(lanes, id) === 0) at += 10
    return at - start
  })
}

describe('the room of a subscription', () => {
  it('begins with one, doubles with each success up to 32, and is one again after a failure', () => {
    const lanes = createLanes(now)
    const seen = [roomOf(lanes, 'a')]
    for (let i = 0; i < 7; i++) {
      lanes.begin('a')(true)
      seen.push(roomOf(lanes, 'a'))
    }
    expect(seen).toEqual([1, 2, 4, 8, 16, 32, 32, 32])
    lanes.begin('a')(false)
    at += MINUTE_MS
    expect(roomOf(lanes, 'a')).toBe(1)
    lanes.begin('a')(true)
    expect(roomOf(lanes, 'a')).toBe(2)
  })

  it('is what it may have less what it has', () => {
    const lanes = createLanes(now)
    prove(lanes, 'a')
    const ends = Array.from({ length: 30 }, () => lanes.begin('a'))
    expect(roomOf(lanes, 'a')).toBe(2)
    for (const end of ends) end(true)
    expect([roomOf(lanes, 'a'), lanes.count()]).toEqual([32, 0])
    // One fails: there is another under way, and one is enough.
    const [first, second] = [lanes.begin('a'), lanes.begin('a')]
    first(false)
    at += MINUTE_MS
    expect(roomOf(lanes, 'a')).toBe(0)
    second(false)
    at += MINUTE_MS
    expect(roomOf(lanes, 'a')).toBe(1)
  })

  it('is that of a new one when it has been forgotten', () => {
    const lanes = createLanes(now, { remembered: 2 })
    for (const id of ['a', 'b', 'c']) prove(lanes, id)
    expect(roomOf(lanes, 'c')).toBe(32)
    expect(roomOf(lanes, 'a')).toBe(1)
  })
})

describe('the rest after a failure', () => {
  it('is twice as long each time, a minute at most, and short again after a success', () => {
    const lanes = createLanes(now)
    const expected = [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000]
    expect(restsAfter(lanes, 'a', 12, 0)).toEqual(expected)
    lanes.begin('a')(true)
    expect(restsAfter(lanes, 'a', 1, 0)).toEqual([100])
  })

  it('is four times as long as the try, so that one that hangs has a fifth of the time', () => {
    const lanes = createLanes(now)
    expect(restsAfter(lanes, 'a', 2, 15_000)).toEqual([60_000, 60_000])
    expect(restsAfter(lanes, 'b', 2, 500)).toEqual([2_000, 2_000])
  })

  it('takes what was under way together for one failure', () => {
    const lanes = createLanes(now)
    prove(lanes, 'a')
    const ends = Array.from({ length: 32 }, () => lanes.begin('a'))
    at += 10
    for (const end of ends) end(false)
    const start = at
    while (roomOf(lanes, 'a') === 0) at += 10
    expect(at - start).toBe(100)
  })

  it('is over when the clock has been set back', () => {
    const lanes = createLanes(now)
    lanes.begin('a')(false)
    at -= 10 * MINUTE_MS
    expect(roomOf(lanes, 'a')).toBe(1)
  })
})

describe('the slots', () => {
  it('are shared out in the order asked, together up to the limit', () => {
    const lanes = createLanes(now)
    for (const id of ['a', 'b']) prove(lanes, id)
    expect([...lanes.share(['new', 'b', 'a'], 40)]).toEqual([
      ['new', 1],
      ['b', 32],
      ['a', 7],
    ])
  })

  it('are taken by the failing only in part, so that new ones find some; and by both, so that the proven do', () => {
    const lanes = createLanes(now, { connections: 10_000 })
    const failing = names('failing', 3_000)
    for (const id of failing) lanes.begin(id)(false)
    at += MINUTE_MS
    expect(take(lanes, failing)).toHaveLength(1_024)
    expect(take(lanes, names('new', 3_000))).toHaveLength(512)
    expect(lanes.count()).toBe(1_536)

    prove(lanes, 'live')
    expect(roomOf(lanes, 'live')).toBe(32)
    expect(total(lanes.share([...failing, ...names('new', 3_000), 'live'], 1_000))).toBe(32)
  })

  it('are never more than 2048, and the last ones not for few', () => {
    const lanes = createLanes(now)
    const proven = names('proven', 2_000)
    for (const id of proven) prove(lanes, id)
    const ends = take(lanes, proven)
    while (ends.length < 2_048) {
      const more = take(lanes, proven)
      expect(more.length).toBeGreaterThan(0)
      ends.push(...more)
    }
    expect(lanes.count()).toBe(2_048)
    expect(take(lanes, names('late', 10))).toEqual([])
    ends.pop()!(true)
    // One is free: it is for whoever comes first, and not for more.
    expect(total(lanes.share(proven.toReversed(), 1_000))).toBe(1)
  })

  it('are given to few unproven ones at once, wherever they stand, as each needs a connection', () => {
    const lanes = createLanes(now)
    const proven = names('proven', 3)
    for (const id of proven) prove(lanes, id)
    const [some, others] = [names('new', 20), names('other', 20)]
    expect([...lanes.share([...some, ...proven, ...others], 1_000).keys()]).toEqual([...some.slice(0, 8), ...proven])
    take(lanes, some)
    expect([...lanes.share([...some, ...others], 1_000).keys()]).toEqual(some.slice(8, 16))
  })

  it('become scarcer for each the fewer there are', () => {
    const lanes = createLanes(now, { all: 64, connections: 64 })
    for (const id of ['a', 'b']) prove(lanes, id)
    expect([...lanes.share(['a', 'b'], 64).values()]).toEqual([4, 4])
    take(lanes, names('new', 60))
    expect([...lanes.share(['a', 'b'], 64).values()]).toEqual([1, 1])
  })
})
