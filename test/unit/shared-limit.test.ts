import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Breaker } from '../../server/limits/breaker.ts'
import type { Taken } from '../../server/limits/limit.ts'
import type { Counted } from '../../server/limits/shared-limit.ts'
import { leaseOf, SharedLimit } from '../../server/limits/shared-limit.ts'

/** One process and a store that answers as the test says. */
async function setUp({ points = 60, nodes = 4, windowSeconds = 60 } = {}) {
  const added: number[] = []
  let [count, ends] = [0, 0]
  const counts = (by: number): Counted => {
    const now = performance.now()
    if (now >= ends) [count, ends] = [0, now + windowSeconds * 1000]
    count += by
    return { consumedPoints: count, msBeforeNext: ends - now }
  }
  let answer: (by: number) => Promise<Counted> = async (by) => counts(by)
  const changes: boolean[] = []
  const breaker = new Breaker(
    () => answer(0),
    (away) => changes.push(away),
  )
  onTestFinished(() => breaker.close())
  await breaker.probe()
  const add = (_key: string, by: number) => {
    added.push(by)
    return answer(by)
  }
  const limit = new SharedLimit({ points, nodes, windowSeconds, breaker, add })
  return {
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
    const { limit, passing, added, others } = await setUp({ points: 1_000, windowSeconds: 0.2 })
    const { msBeforeNext } = await limit.take('team')
    expect(await passing(3)).toBe(3)
    await pause(msBeforeNext + 5)
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

  it('lets its share of the limit through where it never saw a count, also over 0.2 s without the store', async () => {
    const { passing, answerWith, breaker } = await setUp({ nodes: 7, windowSeconds: 0.2 })
    answerWith(down)
    for (let window = 0; window < 3; window++) {
      expect(await passing(100)).toBe(9)
      await pause(205)
    }
    expect(breaker.away).toBe(true)
  })

  it('counts a request once whose reply comes after it was let through', async () => {
    const { passing, answerWith, counts, added, isBack } = await setUp()
    let reply = () => {}
    answerWith((by) => new Promise((resolve) => (reply = () => resolve(counts(by)))))
    expect(await passing(10)).toBe(10)
    answerWith(async (by) => counts(by))
    reply()
    await isBack()
    expect(await passing(1)).toBe(1)
    // The call of one was under way; the nine who waited behind it are reported.
    expect(added).toEqual([1, 10])
    expect(counts(0).consumedPoints).toBe(11)
  })

  it('reports its part again to a store that has lost it', async () => {
    const { passing, answerWith, added } = await setUp()
    expect(await passing(20)).toBe(20)
    // A new window begins: the store was empty.
    await pause(100)
    let count = 0
    const ends = performance.now() + 60_000
    answerWith(async (by) => {
      count += by
      return { consumedPoints: count, msBeforeNext: ends - performance.now() }
    })
    expect(await passing(1)).toBe(1)
    await expect.poll(() => added).toEqual([1, 19, 1, 20])
    expect(await passing(100)).toBe(39)
  })
})

describe('the breaker', () => {
  it('lets nobody wait for a store that hangs, and nobody else call it', async () => {
    const { limit, answerWith, added, changes, breaker } = await setUp()
    answerWith(() => new Promise(() => {}))
    let turns = breaker.turns
    await Promise.all([limit.take('one'), limit.take('two')])
    expect(breaker.turns - turns).toBeLessThanOrEqual(5)
    turns = breaker.turns
    for (let n = 0; n < 10; n++) await limit.take('one')
    expect(breaker.turns).toBe(turns)
    expect(added).toEqual([1, 1])
    expect(changes).toEqual([false, true])
  })

  it('does not blame the store for the stalls of this process', async () => {
    const { limit, answerWith, breaker, counts } = await setUp()
    // An answer by way of a socket: server and client read between the stalls.
    const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    onTestFinished(() => {
      client.destroy()
      server.close()
    })
    await once(client, 'connect')
    answerWith(async (by) => {
      client.write('?')
      await once(client, 'data')
      return counts(by)
    })
    const taken = limit.take('team')
    let stalling = true
    const stall = () => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60)
      // Some rest: while every turn has work, Deno reads sockets in one of 61 only.
      if (stalling) setTimeout(stall, 5)
    }
    stall()
    expect((await taken).passes).toBe(true)
    stalling = false
    expect(breaker.away).toBe(false)
  })
})
