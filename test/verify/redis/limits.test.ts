import { describe, expect, it } from 'vitest'
import { all, fourProcesses, sumOf } from './processes.ts'
import { hasRedis, skipReason, startRedis } from './redis-server.ts'

const NODES = 4

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
      sums.push([sumOf(outcomes, 'passed'), sumOf(outcomes, 'refused')])
    }
    expect(sums).toEqual(Array(5).fill([60, 740]))
  })

  it('let exactly 10,000 of 24,000 requests through, with leases of 100', async () => {
    const redis = await open()
    const before = await redis.calls('evalsha')
    const outcomes = await all(processes, { do: 'take', points: 10_000, key: 'team', count: 6_000, atOnce: 20 })
    const calls = (await redis.calls('evalsha')) - before
    expect([sumOf(outcomes, 'passed'), sumOf(outcomes, 'refused')]).toEqual([10_000, 14_000])
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
