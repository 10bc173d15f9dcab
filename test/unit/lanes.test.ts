import { describe, expect, it } from 'vitest'
import type { Lanes } from '../../server/webhooks/lanes.ts'
import { createLanes } from '../../server/webhooks/lanes.ts'

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

describe('the room of a subscription', () => {
  it('begins with one, doubles with each success up to 32, and is one again after a failure', () => {
    const lanes = createLanes()
    const seen = [roomOf(lanes, 'a')]
    for (let i = 0; i < 7; i++) {
      lanes.begin('a')(true)
      seen.push(roomOf(lanes, 'a'))
    }
    expect(seen).toEqual([1, 2, 4, 8, 16, 32, 32, 32])
    lanes.begin('a')(false)
    expect(roomOf(lanes, 'a')).toBe(1)
    lanes.begin('a')(true)
    expect(roomOf(lanes, 'a')).toBe(2)
  })

  it('is what it may have less what it has', () => {
    const lanes = createLanes()
    prove(lanes, 'a')
    const ends = Array.from({ length: 30 }, () => lanes.begin('a'))
    expect(roomOf(lanes, 'a')).toBe(2)
    // One fails: there are 29 under way, and one would be enough.
    ends.pop()!(false)
    expect(roomOf(lanes, 'a')).toBe(0)
    for (const end of ends) end(null)
    expect(roomOf(lanes, 'a')).toBe(1)
    expect(lanes.count()).toBe(0)
  })

  it('stays as it was when nothing was tried', () => {
    const lanes = createLanes()
    prove(lanes, 'a')
    lanes.begin('a')(null)
    expect(roomOf(lanes, 'a')).toBe(32)
  })

  it('is that of a new one when it has been forgotten', () => {
    const lanes = createLanes({ remembered: 2 })
    for (const id of ['a', 'b', 'c']) prove(lanes, id)
    expect(roomOf(lanes, 'c')).toBe(32)
    expect(roomOf(lanes, 'a')).toBe(1)
  })
})

describe('the slots', () => {
  it('are shared out in the order asked, together up to the limit', () => {
    const lanes = createLanes()
    for (const id of ['a', 'b']) prove(lanes, id)
    expect([...lanes.share(['new', 'b', 'a'], 40)]).toEqual([
      ['new', 1],
      ['b', 32],
      ['a', 7],
    ])
  })

  it('are taken by the failing only in part, so that new ones find some; and by both, so that the proven do', () => {
    const lanes = createLanes()
    const failing = names('failing', 3_000)
    for (const id of failing) lanes.begin(id)(false)
    expect(take(lanes, failing)).toHaveLength(1_024)
    expect(take(lanes, names('new', 3_000))).toHaveLength(512)
    expect(lanes.count()).toBe(1_536)

    prove(lanes, 'live')
    expect(roomOf(lanes, 'live')).toBe(32)
    expect(total(lanes.share([...failing, ...names('new', 3_000), 'live'], 1_000))).toBe(32)
  })

  it('are never more than 2048, and the last ones not for few', () => {
    const lanes = createLanes()
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

  it('become scarcer for each the fewer there are', () => {
    const lanes = createLanes({ all: 64 })
    for (const id of ['a', 'b']) prove(lanes, id)
    expect([...lanes.share(['a', 'b'], 64).values()]).toEqual([4, 4])
    take(lanes, names('new', 60))
    expect([...lanes.share(['a', 'b'], 64).values()]).toEqual([1, 1])
  })
})
