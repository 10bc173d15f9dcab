import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../process/service.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import type { LimitingProcess } from './processes.ts'
import { AWAY, all, BACK, fourProcesses, sumOf } from './processes.ts'
import type { RedisServer } from './redis-server.ts'
import { hasRedis, redisServer, skipReason, startRedis } from './redis-server.ts'

const NODES = 4

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

describe.skipIf(!hasRedis)(`four processes and a Redis${skipReason}`, { timeout: 120_000 }, () => {
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
    const passed = [before, between, after].map((outcomes) => sumOf(outcomes, 'passed'))
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
    const passed = [alone, first, after].map((outcomes) => sumOf(outcomes, 'passed'))
    expect(passed).toEqual([40, 4, 16])
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
