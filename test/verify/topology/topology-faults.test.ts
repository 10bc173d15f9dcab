import { beforeAll, describe, expect, it } from 'vitest'
import { send, until } from '../../process/service.ts'
import { startedTogether } from '../at-end.ts'
import { headersOfAnna, seedDemo } from '../demo.ts'
import { missingPrograms, startFaultyTopology } from './start.ts'
import { halfWrites, lostWrites, startTraffic, tally } from './traffic.ts'

const missing = missingPrograms()
const NODES = ['node-1', 'node-2']
const CLIENTS = 12
/** Responses in some 3 s: HAProxy looks each second. */
const ENOUGH = 30 * CLIENTS

describe.skipIf(missing.length > 0)(`bad days of the topology ${missing.join(', ')}`, () => {
  const topology = startedTogether(startFaultyTopology)
  beforeAll(() => seedDemo(topology.databaseUrl))

  /** Clients that read and write through the balancer. */
  const startLoad = async () => {
    const ask = halfWrites(await headersOfAnna(topology.dataDir))
    return startTraffic({ port: topology.publicPort, clients: CLIENTS, ask })
  }

  it('its nodes are stopped and started one after the other: no request is cut or 5xx', async () => {
    const load = await startLoad()
    for (const name of [...NODES, ...NODES]) {
      expect(await topology.stop(name)).toBe(0)
      await topology.start(name)
      const isBack = async () => {
        const { status } = await send(topology.nodes.find((node) => node.name === name)!.internalPort, 'GET', '/readyz')
        return status === 200
      }
      await until(isBack, (back) => back)
      const from = load.outcomes.length
      await expect.poll(() => load.outcomes.length).toBeGreaterThan(from + ENOUGH)
    }
    expect(tally(await load.stop())).toEqual({ 200: load.outcomes.length })
    expect(await lostWrites(topology.databaseUrl, load.outcomes)).toEqual([])
  })

  it('its database falls silent: 503 within 6 s, and 200 soon after its return, with every acknowledged write', async () => {
    const load = await startLoad()
    const answered = (status: number, from: number) =>
      until(
        async () => load.outcomes.slice(from).filter((one) => one.status === status).length,
        (count) => count >= CLIENTS,
      )
    await answered(200, 0)
    const downs = async () =>
      topology
        .program('proxy')
        .output()
        .match(/Server public\/\S+ is DOWN/g)?.length ?? 0
    const before = await downs()
    await topology.database.begin('blackhole')
    await answered(503, 0)
    await until(downs, (count) => count >= before + NODES.length)
    await answered(503, load.outcomes.length)
    await topology.database.end()
    // Each node finds out for itself.
    const returned = load.outcomes.length
    await until(
      async () => load.outcomes.slice(returned).slice(-ENOUGH),
      (last) => last.length === ENOUGH && last.every(({ status }) => status === 200),
    )
    const outcomes = await load.stop()
    expect(Object.keys(tally(outcomes)).toSorted()).toEqual(['200', '503'])
    const refused = outcomes.filter(({ status }) => status === 503)
    // 6 s, and what the machine adds.
    expect(Math.max(...refused.map(({ ms }) => ms))).toBeLessThan(8_000)
    for (const { headers, text } of refused) {
      const error = { code: 'unavailable', message: expect.any(String), request_id: headers['x-request-id'] }
      expect(JSON.parse(text)).toEqual({ error })
      expect(headers).toMatchObject({ 'retry-after': '2', 'access-control-allow-origin': '*' })
    }
    expect(await lostWrites(topology.databaseUrl, outcomes)).toEqual([])
  })

  it('serves first-party apps at /trpc, and nothing else of the internal port', async () => {
    expect((await send(topology.internalPort, 'GET', '/trpc/me.profile')).status).toBe(401)
    for (const path of ['/healthz', '/readyz', '/metrics', '/trpc']) {
      expect([path, (await send(topology.internalPort, 'GET', path)).status]).toEqual([path, 404])
    }
  })
})
