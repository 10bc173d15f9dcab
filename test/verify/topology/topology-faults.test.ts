import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openDatabase } from '../../../prisma/client.ts'
import { seed } from '../../../prisma/seed.ts'
import { memberScopes, memberScopesAt } from '../../../routers/kernel/scopes.ts'
import { developmentKey, mintToken } from '../../../server/tokens/development.ts'
import { dataDirectory, send, until } from '../../process/service.ts'
import { direct } from '../../support/addresses.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import type { Topology } from './start.ts'
import { missingPrograms, startTopology } from './start.ts'
import { startTraffic, tally } from './traffic.ts'

const missing = missingPrograms()
const NODES = ['node-1', 'node-2']
const CLIENTS = 12
/** Responses in some 3 s: HAProxy looks each second. */
const ENOUGH = 30 * CLIENTS

describe.skipIf(missing.length > 0)(`bad days of the topology ${missing.join(', ')}`, { timeout: 240_000 }, () => {
  let topology: Topology
  let database: FaultProxy
  const ends: (() => Promise<void>)[] = []
  /** Headers of a member by the client of the member's app. */
  let as: (client: string) => Promise<Record<string, string>>

  beforeAll(async () => {
    database = await FaultProxy.to(direct(inject('databaseUrl')))
    const DATA_DIR = await dataDirectory((end) => ends.push(end))
    topology = await startTopology({ server: database.url, settings: { DEVELOPMENT_TOKENS: 'true', DATA_DIR } })
    const db = openDatabase(topology.databaseUrl, () => {})
    await seed(db, new Date(), memberScopesAt)
    await db.$disconnect()
    const key = await developmentKey(DATA_DIR)
    as = async (client) => {
      const claims = { member: 'anna', organisation: 'riverside', client, scope: memberScopes.join(' ') }
      const token = await mintToken(key, { ...claims, expiresInSeconds: 3_600 })
      return { host: 'apps.localhost', authorization: `Bearer ${token}` }
    }
  }, 240_000)
  afterAll(async () => {
    await topology?.close()
    database?.close()
    for (const end of ends) await end()
  }, 60_000)

  /** Clients that read and write through the balancer, with a client that has no limit. */
  const startLoad = async () => {
    const headers = await as('trainer-app-sandbox')
    return startTraffic({
      port: topology.publicPort,
      clients: CLIENTS,
      ask: (client, n) =>
        n % 2 === 0
          ? { method: 'GET', path: '/v1/me/profile', headers }
          : { method: 'PUT', path: `/v1/storage/days/c${client}`, headers, body: JSON.stringify({ value: n }) },
    })
  }
  type Load = Awaited<ReturnType<typeof startLoad>>

  /** The keys of clients whose stored value is older than the last one that was acknowledged. */
  async function lost({ outcomes }: Load) {
    const headers = await as('trainer-app-sandbox')
    const acknowledged = new Map<string, number>()
    for (const { ask, status } of outcomes) {
      if (ask.method === 'PUT' && status === 200) acknowledged.set(ask.path, JSON.parse(ask.body!).value)
    }
    expect(acknowledged.size).toBeGreaterThan(0)
    const older: string[] = []
    for (const [path, value] of acknowledged) {
      const { body } = await send(topology.publicPort, 'GET', path, { headers })
      if (!(body.value >= value)) older.push(`${path}: ${body.value}, not ${value}`)
    }
    return older
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
    expect(await lost(load)).toEqual([])
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
    await database.begin('blackhole')
    await answered(503, 0)
    await until(downs, (count) => count >= before + NODES.length)
    await answered(503, load.outcomes.length)
    await database.end()
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
    expect(await lost(load)).toEqual([])
  })

  it('serves first-party apps at /trpc, and nothing else of the internal port', async () => {
    expect((await send(topology.internalPort, 'GET', '/trpc/me.profile')).status).toBe(401)
    for (const path of ['/healthz', '/readyz', '/metrics', '/trpc']) {
      expect([path, (await send(topology.internalPort, 'GET', path)).status]).toEqual([path, 404])
    }
  })
})
