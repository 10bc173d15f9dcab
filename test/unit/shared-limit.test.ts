import { setImmediate as immediates } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Breaker } from '../../server/limits/breaker.ts'
import type { Taken } from '../../server/limits/limit.ts'
import type { Counted } from '../../server/limits/shared-limit.ts'
import { leaseOf, SharedLimit } from '../../server/limits/shared-limit.ts'

const WINDOW_MS = 60_000

/** One process and a store that answers as the test says; clock and turns of the event loop pass as it says too. */
async function setUp({ points = 60, nodes = 4 } = {}) {
  const clock = { ms: 0 }
  const added: number[] = []
  let [count, ends] = [0, 0]
  const counts = (by: number): Counted => {
    const now = clock.ms
    if (now >= ends) [count, ends] = [0, now + WINDOW_MS]
    count += by
    return { consumedPoints: count, msBeforeNext: ends - now }
  }
  let answer: (by: number) => Promise<Counted> = async (by) => counts(by)
  const changes: boolean[] = []
  let nextTurn: (() => void) | undefined
  const turn = () => {
    const turn = nextTurn
    nextTurn = undefined
    turn?.()
  }
  const breaker = new Breaker(
    () => answer(0),
    (away) => changes.push(away),
    (turn) => {
      // A stall of any length is one turn.
      expect(nextTurn).toBeUndefined()
      nextTurn = turn
    },
  )
  onTestFinished(() => breaker.close())
  await breaker.probe()
  const add = (_key: string, by: number) => {
    added.push(by)
    return answer(by)
  }
  const limit = new SharedLimit({ points, nodes, windowSeconds: WINDOW_MS / 1000, breaker, add, now: () => clock.ms })
  return {
    clock,
    limit,
    breaker,
    changes,
    /** Points of each call. */
    added,
    counts,
    /** What other processes have used. */
    others: (by: number) => counts(by),
    answerWith(given: typeof answer) {
      answer = given
    },
    /** How many of as many requests at once pass. */
    async passing(requests: number) {
      const all = await Promise.all(Array.from({ length: requests }, () => limit.take('team')))
      return all.filter(({ passes }) => passes).length
    },
    turn,
    async turns(count: number) {
      for (let n = 0; n < count; n++) {
        turn()
        await immediates()
      }
    },
    isBack: () => expect.poll(() => breaker.away).toBe(false),
  }
}

const down = () => Promise.reject(new Error('down'))

it.each([
  [60, 1],
  [999, 1],
  [1_000, 10],
  [10_000, 100],
  [10_001, 101],
])('of a limit of %i points a process takes %i at once', (points, lease) => {
  expect(leaseOf(points)).toBe(lease)
})

describe('a shared limit', () => {
  it('asks once for a lease, and once for all who wait', async () => {
    const large = await setUp({ points: 10_000 })
    for (let n = 0; n < 250; n++) expect((await large.limit.take('team')).passes).toBe(true)
    expect(large.added).toEqual([100, 100, 100])
    const small = await setUp()
    expect(await small.passing(200)).toBe(60)
    expect(small.added).toEqual([1, 199])
  })

  it('says what is left of the last count, and of its lease', async () => {
    const { limit, others } = await setUp({ points: 10_000 })
    others(3_000)
    const remaining = []
    for (let n = 0; n < 3; n++) remaining.push(((await limit.take('team')) as Taken).remaining)
    expect(remaining).toEqual([6_999, 6_998, 6_997])
  })

  it('gives out a part of a lease where no more is left, and then asks once a second', async () => {
    const { passing, others, added } = await setUp({ points: 10_000 })
    others(9_970)
    expect(await passing(50)).toBe(30)
    expect(await passing(50)).toBe(0)
    expect(added).toEqual([100])
  })

  it('begins anew with the window, without what was left of a lease', async () => {
    const { clock, limit, passing, added, others } = await setUp({ points: 1_000 })
    expect((await limit.take('team')).msBeforeNext).toBe(WINDOW_MS)
    clock.ms = WINDOW_MS - 1
    expect(await passing(3)).toBe(3)
    expect(added).toEqual([10])
    clock.ms = WINDOW_MS
    others(1_000)
    expect(await passing(5)).toBe(0)
    expect(added).toEqual([10, 10])
  })

  it('takes points back', async () => {
    const { limit, passing, counts } = await setUp()
    expect(await passing(60)).toBe(60)
    for (let n = 0; n < 5; n++) limit.giveBack('team')
    await expect.poll(() => counts(0).consumedPoints).toBe(55)
    expect(await passing(10)).toBe(5)
  })

  it('lets its share of what was left through while the store is away, and reports it', async () => {
    const { passing, answerWith, others, counts, added, isBack } = await setUp()
    others(39)
    expect(await passing(1)).toBe(1)
    answerWith(down)
    expect(await passing(100)).toBe(5)
    expect(await passing(100)).toBe(0)
    answerWith(async (by) => counts(by))
    await isBack()
    expect(await passing(1)).toBe(1)
    expect(added.at(-1)).toBe(6)
    expect(counts(0).consumedPoints).toBe(46)
  })

  it('lets its share of the limit through in each window where it never saw a count', async () => {
    const { clock, passing, answerWith } = await setUp({ nodes: 7 })
    answerWith(down)
    for (let window = 0; window < 3; window++) {
      clock.ms = window * WINDOW_MS
      expect(await passing(100)).toBe(9)
      clock.ms += WINDOW_MS - 1
      expect(await passing(100)).toBe(0)
    }
  })

  it('counts a request once whose reply comes after it was let through', async () => {
    const { passing, turns, answerWith, counts, added, isBack } = await setUp()
    let reply = () => {}
    answerWith((by) => new Promise((resolve) => (reply = () => resolve(counts(by)))))
    const passed = passing(10)
    await turns(5)
    expect(await passed).toBe(10)
    answerWith(async (by) => counts(by))
    reply()
    await isBack()
    expect(await passing(1)).toBe(1)
    // The call of one was under way; the nine who waited behind it are reported.
    expect(added).toEqual([1, 10])
    expect(counts(0).consumedPoints).toBe(11)
  })

  it('reports its part again to a store that has lost it', async () => {
    const { clock, passing, answerWith, added } = await setUp()
    expect(await passing(20)).toBe(20)
    // A new window begins: the store was empty.
    clock.ms = 100
    let count = 0
    answerWith(async (by) => {
      count += by
      return { consumedPoints: count, msBeforeNext: WINDOW_MS }
    })
    expect(await passing(1)).toBe(1)
    await expect.poll(() => added).toEqual([1, 19, 1, 20])
    expect(await passing(100)).toBe(39)
  })
})

describe('the breaker', () => {
  const hanging = () => new Promise<never>(() => {})

  it('lets nobody wait longer than five turns for a store that hangs, and nobody else call it', async () => {
    const { limit, turns, answerWith, added, changes, breaker } = await setUp()
    answerWith(hanging)
    const waiting = [limit.take('one'), limit.take('two')]
    await turns(4)
    expect(breaker.away).toBe(false)
    await turns(1)
    expect(breaker.away).toBe(true)
    for (const taken of waiting) expect((await taken).passes).toBe(true)
    for (let n = 0; n < 10; n++) expect(limit.take('one')).toMatchObject({ passes: true })
    expect(added).toEqual([1, 1])
    expect(changes).toEqual([false, true])
  })

  it('does not blame the store for the stalls of this process', async () => {
    const { clock, limit, turn, turns, answerWith, breaker, counts } = await setUp()
    let reply = () => {}
    answerWith((by) => new Promise((resolve) => (reply = () => resolve(counts(by)))))
    const taken = limit.take('team')
    await turns(4)
    clock.ms = 30_000
    // During the last turn the reply has arrived, and is read after it.
    turn()
    reply()
    expect((await taken).passes).toBe(true)
    await immediates()
    expect(breaker.away).toBe(false)
  })

  it('has turns of 8 ms', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let answer: () => Promise<unknown> = async () => 0
    const breaker = new Breaker(
      () => answer(),
      () => {},
    )
    onTestFinished(() => breaker.close())
    await breaker.probe()
    answer = hanging
    void breaker.run(answer, breaker.turns, () => {})
    await vi.advanceTimersByTimeAsync(39)
    await immediates()
    expect([breaker.turns, breaker.away]).toEqual([4, false])
    await vi.advanceTimersByTimeAsync(1)
    await immediates()
    expect([breaker.turns, breaker.away]).toEqual([5, true])
  })
})
