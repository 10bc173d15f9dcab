import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { setImmediate as immediates } from 'node:timers/promises'
import pino from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { errors } from '../../routers/kernel/errors.ts'
import { limitFailures, MAX_FAILURES, REFUSAL_DELAY_MS } from '../../server/http/failed-authentications.ts'
import { Breaker } from '../../server/limits/breaker.ts'
import type { Taken } from '../../server/limits/limit.ts'
import { MemoryLimit, memoryLimits } from '../../server/limits/memory.ts'
import { openRedisLimits } from '../../server/limits/redis.ts'
import type { Counted } from '../../server/limits/shared-limit.ts'
import { leaseSize, SharedLimit } from '../../server/limits/shared-limit.ts'

function openLimit(points: number) {
  const clock = { ms: 0 }
  return { clock, limit: new MemoryLimit(points, 60, () => clock.ms) }
}

it('a limit counts each key in a window that begins with its first request', () => {
  const { clock, limit } = openLimit(2)
  expect(limit.take('a')).toEqual({ passes: true, remaining: 1, msBeforeNext: 60_000 })
  clock.ms = 20_000
  expect(limit.take('b')).toEqual({ passes: true, remaining: 1, msBeforeNext: 60_000 })
  expect(limit.take('a')).toEqual({ passes: true, remaining: 0, msBeforeNext: 40_000 })
  clock.ms = 59_999.5
  expect(limit.take('a')).toEqual({ passes: false, remaining: 0, msBeforeNext: 0.5 })
  clock.ms = 60_000
  expect(limit.take('a')).toEqual({ passes: true, remaining: 1, msBeforeNext: 60_000 })
  expect(limit.take('b')).toEqual({ passes: true, remaining: 0, msBeforeNext: 20_000 })
})

it('a point given back can be taken again in its window, and adds nothing to the next one', () => {
  const { clock, limit } = openLimit(1)
  limit.take('a')
  limit.giveBack('a')
  expect(limit.take('a').passes).toBe(true)
  expect(limit.take('a').passes).toBe(false)
  clock.ms = 60_000
  limit.giveBack('a')
  expect([limit.take('a').passes, limit.take('a').passes]).toEqual([true, false])
})

it('the windows of a flood are removed by half as many requests, two each', () => {
  const { clock, limit } = openLimit(1)
  for (let n = 0; n < 1_000; n++) limit.take(`flood${n}`)
  clock.ms = 60_000
  for (let n = 0; n < 10; n++) limit.take('other')
  expect(limit.size).toBe(1_000 - 20 + 1)
  for (let n = 10; n < 500; n++) limit.take('other')
  expect(limit.size).toBe(1)
  // Not yet removed, but ended.
  for (let n = 0; n < 5; n++) limit.take(`late${n}`)
  clock.ms = 120_000
  expect(limit.take('late4').passes).toBe(true)
  expect(limit.take('late4').passes).toBe(false)
})

it('limits of the same name share one count in memory, and those of other names have their own', () => {
  const limits = memoryLimits(() => 0)
  const [one, again, other] = ['a', 'a', 'b'].map((name) => limits.open(name, 1, 60))
  expect(one!.take('key')).toMatchObject({ passes: true })
  expect(again!.take('key')).toMatchObject({ passes: false })
  expect(other!.take('key')).toMatchObject({ passes: true })
})

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
  expect(leaseSize(points)).toBe(lease)
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

  it('starts again with the window, without what was left of a lease', async () => {
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
    // One call was running; the nine that waited behind it are reported.
    expect(added).toEqual([1, 10])
    expect(counts(0).consumedPoints).toBe(11)
  })

  it('removes the windows of a flood two a request, not all at once', async () => {
    const { clock, limit } = await setUp()
    for (let n = 0; n < 100; n++) await limit.take(`flood${n}`)
    clock.ms = WINDOW_MS
    for (let n = 0; n < 10; n++) await limit.take('other')
    expect(limit.size).toBe(100 - 20 + 1)
    for (let n = 10; n < 50; n++) await limit.take('other')
    expect(limit.size).toBe(1)
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

  it('counts a failure when the store goes away, and none for probes and connections while it is', async () => {
    const { passing, breaker, answerWith, counts, isBack } = await setUp()
    answerWith(down)
    await passing(3)
    await breaker.probe()
    breaker.open(new Error('the connection was closed'))
    expect(breaker.failures).toBe(1)
    answerWith(async (by) => counts(by))
    await isBack()
    breaker.open(new Error('the connection was closed'))
    expect(breaker.failures).toBe(2)
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

/** A server that answers in Redis' protocol: each script with what `script` returns for the number of its connection. */
async function startRedisStub(script: (connection: number) => string) {
  let connections = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const connection = ++connections
    sockets.add(socket)
    socket.on('data', (data) => {
      for (const [, command] of String(data).matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)/gm)) {
        if (command === 'info') socket.write('$9\r\nloading:0\r\n')
        else socket.write(command!.startsWith('eval') ? script(connection) : '+OK\r\n')
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const READ_ONLY = "READONLY You can't write against a read only replica."

it.each([
  ['a Redis before 7', `ERR Error running script (call to f_7d7f1a): @user_script:1: @user_script: 1: -${READ_ONLY}`],
  ['a later one', `${READ_ONLY} script: 7d7f1a, on @user_script:1.`],
])('a node leaves %s that has become a replica for the new primary', async (_, error) => {
  const url = await startRedisStub((connection) => (connection === 1 ? `-${error}\r\n` : '*2\r\n:1\r\n:60000\r\n'))
  const limits = await openRedisLimits({ url, nodes: 1, log: pino({ level: 'silent' }) })
  onTestFinished(limits.close)
  expect(limits.store()).toBe('memory')
  await expect.poll(limits.store).toBe('redis')
})

/** Authentication that always fails so, with the limit on failures of one address. */
function failing(error: () => Error = errors.tokenInvalid, now = () => 0, verified: unknown[] = []) {
  const authenticate = limitFailures(
    async ({ headers }) => {
      verified.push(headers.authorization)
      throw error()
    },
    () => '192.0.2.1',
    memoryLimits(now),
    now,
  )
  const outcome = (token?: string) =>
    authenticate({ headers: token ? { authorization: `Bearer ${token}` } : {} } as IncomingMessage).catch(
      (error) => error,
    )
  const fail = () => Promise.all(Array.from({ length: MAX_FAILURES }, (_, n) => outcome(`guess${n}`)))
  return { verified, outcome, fail }
}

it('an invalid token beyond the limit is verified once, and refused from then on', async () => {
  const { verified, outcome, fail } = failing()
  expect((await fail()).map(({ status }) => status)).toEqual(Array(MAX_FAILURES).fill(401))
  for (const [token, more] of [
    ['again', 1],
    ['again', 1],
    ['another', 2],
  ] as const) {
    expect(await outcome(token)).toMatchObject({ status: 429 })
    expect(verified).toHaveLength(MAX_FAILURES + more)
  }
})

it('an invalid token that was refused is verified again in the next window', async () => {
  let ms = 0
  const { outcome, fail } = failing(errors.tokenInvalid, () => ms)
  await fail()
  for (const [at, retryAfter] of [
    [20_000, 40],
    [58_999, 2],
    [59_999, 1],
  ] as const) {
    ms = at
    expect(await outcome('again')).toMatchObject({ status: 429, headers: { 'Retry-After': String(retryAfter) } })
  }
  ms = 60_000
  expect(await outcome('again')).toMatchObject({ status: 401 })
})

it('invalid tokens beyond the limit are refused after a delay, at first sight and again', async () => {
  const { outcome, fail } = failing()
  await fail()
  for (let times = 0; times < 2; times++) {
    const startedAt = performance.now()
    await outcome('again')
    // A timer may fire a millisecond early.
    expect(performance.now() - startedAt).toBeGreaterThan(REFUSAL_DELAY_MS - 2)
  }
})

it.each([
  ['expired tokens do', errors.tokenExpired, 'x'],
  ['requests without a token do', errors.tokenMissing, undefined],
])('%s not count', async (_, error, token) => {
  const { outcome } = failing(error)
  for (let n = 0; n <= MAX_FAILURES; n++) expect(await outcome(token)).toMatchObject({ status: 401 })
})
