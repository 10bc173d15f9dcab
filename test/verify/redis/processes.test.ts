import { fork } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import { endingAfterAll } from '../at-end.ts'
import type { Outcome, Task } from './limiting-process.ts'
import type { RedisServer } from './redis-server.ts'
import { hasRedis, redisServer, skipReason, startRedis } from './redis-server.ts'

const NODES = 4

/** A process that limits requests. */
interface LimitingProcess {
  perform: <Result = Outcome>(task: Task) => Promise<Result>
  /** Lines of its log since it opened its limits. */
  lines: () => Record<string, unknown>[]
  /** Resolves when the last line says that Redis is unreachable, or that it is used. */
  alone: () => Promise<unknown>
  counting: () => Promise<unknown>
}

/** Four processes for the tests of a `describe`. */
function fourProcesses(): LimitingProcess[] {
  const processes: LimitingProcess[] = []
  const atEnd = endingAfterAll()
  beforeAll(async () => {
    for (let n = 0; n < NODES; n++) processes.push(start(atEnd))
    await Promise.all(processes.map((one) => one.perform({ do: 'progress' })))
  })
  return processes
}

function start(atEnd: AtEnd): LimitingProcess {
  const child = fork(new URL('limiting-process.ts', import.meta.url), [], { execArgv: ['--import', 'tsx'] })
  const ended = once(child, 'close')
  atEnd(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const ready = once(child, 'message')
  let lines: Record<string, unknown>[] = []
  const pending = new Map<number, (result: never) => void>()
  let last = 0
  child.on('message', ({ id, result, line }: { id?: number; result?: never; line?: string }) => {
    if (id !== undefined) pending.get(id)!(result!)
    else if (line!.startsWith('{')) lines.push(JSON.parse(line!))
  })
  const says = (message: string) =>
    until(
      async () => String(lines.at(-1)?.msg),
      (last) => last.startsWith(message),
    )
  return {
    async perform(task) {
      await ready
      if (task.do === 'open') lines = []
      const id = ++last
      return new Promise((resolve, reject) => {
        pending.set(id, resolve)
        void ended.then(() => reject(new Error('the process ended')))
        child.send({ id, task })
      })
    },
    lines: () => lines,
    alone: () => says(AWAY),
    counting: () => says(BACK),
  }
}

/** The log's lines when Redis is unreachable, and when it is back. */
const AWAY = 'Redis is out of reach'
const BACK = 'limits are counted in Redis'

const all = <Result = Outcome>(processes: LimitingProcess[], task: Task): Promise<Result[]> =>
  Promise.all(processes.map((one) => one.perform<Result>(task)))

const sumOutcomes = (outcomes: Outcome[], what: keyof Outcome) => outcomes.reduce((sum, one) => sum + one[what], 0)

interface Fault {
  begin: (redis: RedisServer, proxy: FaultProxy) => unknown
  end: (redis: RedisServer, proxy: FaultProxy) => unknown
}

const faults: Record<string, Fault> = {
  'killed and started again': { begin: (redis) => redis.kill(), end: (redis) => redis.start() },
  'that hangs (SIGSTOP)': { begin: (redis) => redis.hang(), end: (redis) => redis.goOn() },
  'that takes 200 ms': { begin: (_, proxy) => proxy.begin('latency'), end: (_, proxy) => proxy.end() },
  'behind a connection that is reset': { begin: (_, proxy) => proxy.begin('reset'), end: (_, proxy) => proxy.end() },
  'behind a network that drops everything': {
    begin: (_, proxy) => proxy.begin('blackhole'),
    // TCP would send what was dropped again; the proxy cannot.
    end(_, proxy) {
      proxy.breakConnections()
      return proxy.end()
    },
  },
  'that becomes a replica and refuses to write': {
    begin: (redis) => redis.cli('replicaof', '127.0.0.1', '1'),
    end: (redis) => redis.cli('replicaof', 'no', 'one'),
  },
}

describe.skipIf(!hasRedis)(`four processes and a Redis${skipReason}`, () => {
  const processes = fourProcesses()

  it.each(Object.entries(faults))('%s: nobody fails or waits, and there is always a limit', async (_, fault) => {
    const redis = await startRedis()
    const proxy = await FaultProxy.to(redis.url)
    proxy.latencyMs = 100
    onTestFinished(() => proxy.close())
    await all(processes, { do: 'open', url: proxy.url, nodes: NODES })
    await Promise.all(processes.map((one) => one.counting()))

    // A minute's limit of 60 for each of 200 teams, of which this load needs less than a process's share.
    await all(processes, { do: 'load', points: 60, keys: 200, everyMs: 10 })
    await furtherRequests(processes, 50)
    await fault.begin(redis, proxy)
    await Promise.all(processes.map((one) => one.alone()))
    const bursts = await all(processes, { do: 'take', points: 60, key: 'burst', count: 100 })
    expect(bursts.map(({ passed, refused }) => [passed, refused])).toEqual(Array(NODES).fill([15, 85]))
    await furtherRequests(processes, 150)
    await fault.end(redis, proxy)
    await Promise.all(processes.map((one) => one.counting()))
    await furtherRequests(processes, 50)

    const outcomes = await all(processes, { do: 'end' })
    for (const { passed, refused, failed, slow, seconds } of [...outcomes, ...bursts]) {
      expect([failed, slow <= seconds]).toEqual([0, true])
      if (seconds > 0) expect([passed > 250, refused]).toEqual([true, 0])
    }
    // One line each way, more than once only on a machine that was too busy for Redis.
    for (const one of processes) {
      const said = one.lines().map(({ msg }) => String(msg).split(':')[0])
      expect(said.length).toBeGreaterThanOrEqual(3)
      expect(said).toEqual(said.map((_, n) => (n % 2 === said.indexOf(BACK) ? BACK : AWAY)))
    }
  })

  it('that forgets its counts learns them again: still 60 pass', async () => {
    const redis = await startRedis()
    await all(processes, { do: 'open', url: redis.url, nodes: NODES, waits: true })
    await Promise.all(processes.map((one) => one.counting()))
    const before = await all(processes, { do: 'take', points: 60, key: 'team', count: 10 })
    await redis.kill()
    await Promise.all(processes.map((one) => one.alone()))
    await redis.start()
    await Promise.all(processes.map((one) => one.counting()))
    // What each of them has used is known once each has asked.
    const between = await all(processes, { do: 'take', points: 60, key: 'team', count: 1 })
    const after = await all(processes, { do: 'take', points: 60, key: 'team', count: 100 })
    const passed = [before, between, after].map((outcomes) => sumOutcomes(outcomes, 'passed'))
    expect(passed).toEqual([40, 4, 16])
  })

  it('that comes back learns what has passed meanwhile', async () => {
    const redis = await redisServer()
    const stores = await all<string>(processes, { do: 'open', url: redis.url, nodes: NODES, waits: true })
    expect(stores).toEqual(Array(NODES).fill('memory'))
    const alone = await all(processes, { do: 'take', points: 60, key: 'team', count: 10 })
    await redis.start()
    await Promise.all(processes.map((one) => one.counting()))
    const first = await all(processes, { do: 'take', points: 60, key: 'team', count: 1 })
    const after = await all(processes, { do: 'take', points: 60, key: 'team', count: 100 })
    const passed = [alone, first, after].map((outcomes) => sumOutcomes(outcomes, 'passed'))
    expect(passed).toEqual([40, 4, 16])
  })
})

describe.skipIf(!hasRedis)(`four processes with one Redis${skipReason}`, () => {
  const processes = fourProcesses()

  async function open() {
    const redis = await startRedis()
    await all<string>(processes, { do: 'open', url: redis.url, nodes: NODES, waits: true })
    await Promise.all(processes.map((one) => one.counting()))
    return redis
  }

  it.each([200, 1])('let exactly 60 of 800 requests through, %i at once in each', async (atOnce) => {
    await open()
    const sums = []
    for (let round = 0; round < 5; round++) {
      const task = { do: 'take', points: 60, key: `round${round}`, count: 200, atOnce } as const
      const outcomes = await all(processes, task)
      sums.push([sumOutcomes(outcomes, 'passed'), sumOutcomes(outcomes, 'refused')])
    }
    expect(sums).toEqual(Array(5).fill([60, 740]))
  })

  it('let exactly 10,000 of 24,000 requests through, with leases of 100', async () => {
    const redis = await open()
    const before = await redis.calls('evalsha')
    const outcomes = await all(processes, { do: 'take', points: 10_000, key: 'team', count: 6_000, atOnce: 20 })
    const calls = (await redis.calls('evalsha')) - before
    expect([sumOutcomes(outcomes, 'passed'), sumOutcomes(outcomes, 'refused')]).toEqual([10_000, 14_000])
    // 100 leases, and a few calls more of each process, which learns each second that the limit is reached.
    expect(calls).toBeLessThan(200)
  })

  it('use keys with a prefix that end with the window', async () => {
    const redis = await open()
    await all(processes, { do: 'take', points: 60, key: 'team', count: 5 })
    const keys = (await redis.cli('keys', '*')).split('\n').sort()
    expect(keys).toEqual(['member-apps:limit:60-60:team', 'member-apps:limit:probe:probe'])
    expect(await redis.cli('get', keys[0]!)).toBe('20')
    for (const key of keys) {
      const ttl = Number(await redis.cli('ttl', key))
      expect(ttl).toBeGreaterThan(0)
      expect(ttl).toBeLessThanOrEqual(60)
    }
  })

  it('give unused points of a lease back when they end', async () => {
    const redis = await open()
    await all(processes, { do: 'take', points: 10_000, key: 'team', count: 5, atOnce: 1 })
    expect(await redis.cli('get', 'member-apps:limit:10000-60:team')).toBe('400')
    await all(processes, { do: 'close' })
    expect(await redis.cli('get', 'member-apps:limit:10000-60:team')).toBe('20')
  })
})

async function furtherRequests(processes: LimitingProcess[], count: number) {
  const before = await all(processes, { do: 'progress' })
  await until(
    async () => {
      const now = await all(processes, { do: 'progress' })
      return Math.min(...now.map(({ passed, refused }, n) => passed + refused - before[n]!.passed - before[n]!.refused))
    },
    (further) => further >= count,
  )
}
