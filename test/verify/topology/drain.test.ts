import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../../prisma/client.ts'
import { seed } from '../../../prisma/seed.ts'
import { memberScopes, memberScopesAt } from '../../../routers/kernel/scopes.ts'
import { developmentKey, mintToken } from '../../../server/tokens/development.ts'
import { dataDirectory, freePort, launch, send, until } from '../../process/service.ts'
import { migratedDatabase } from '../../support/databases.ts'
import type { Outcome } from './traffic.ts'
import { startTraffic, tally } from './traffic.ts'

const DRAIN_SECONDS = 2.5
const CLIENTS = 24

describe('a service that gets SIGTERM under load', { timeout: 600_000 }, () => {
  it('serves on with Connection: close while it is not ready, and resets no connection that is kept', async () => {
    const platform = await newPlatform()
    const place = { port: await freePort(), internalPort: await freePort() }
    const service = await platform.start(place)
    const traffic = startTraffic({ port: place.port, clients: CLIENTS, ask: platform.ask })
    await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(200)

    service.child.kill('SIGTERM')
    const signalled = traffic.nowMs()
    await expect.poll(() => send(place.internalPort, 'GET', '/readyz')).toMatchObject({ status: 503 })
    expect((await send(place.internalPort, 'GET', '/readyz?exclude=database')).status).toBe(503)
    expect((await send(place.internalPort, 'GET', '/healthz')).headers.connection).toBe('close')
    const unready = traffic.nowMs()
    expect(await service.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    const outcomes = await traffic.stop()

    const served = outcomes.filter(({ status }) => status !== 0)
    expect(tally(served)).toEqual({ 200: served.length })
    // Each connection once more at most, as a response may have left before the signal.
    const late = served.filter(({ endMs, ms }) => endMs - ms > unready)
    expect(late.length).toBeGreaterThan(CLIENTS)
    expect(new Set(late.map(({ headers }) => headers.connection))).toEqual(new Set(['close']))
    const cut = outcomes.filter(({ status }) => status === 0)
    expect(cut.filter(({ reused }) => reused)).toEqual([])
    // Those find nobody any more.
    for (const { code, endMs } of cut) {
      expect(['ECONNREFUSED', 'ECONNRESET']).toContain(code)
      expect(endMs - signalled).toBeGreaterThan(DRAIN_SECONDS * 1000)
    }
    expect(await platform.lost(outcomes)).toEqual([])
  })
})

/** A database with the demo data for several nodes, and requests of a client that has no rate limit. */
async function newPlatform() {
  const DATABASE_URL = await migratedDatabase()
  const db = openDatabase(DATABASE_URL, () => {})
  await seed(db, new Date(), memberScopesAt)
  await db.$disconnect()
  const DATA_DIR = await dataDirectory()
  const key = await developmentKey(DATA_DIR)
  const claims = { member: 'anna', organisation: 'riverside', client: 'trainer-app-sandbox' }
  const token = await mintToken(key, { ...claims, scope: memberScopes.join(' '), expiresInSeconds: 3600 })
  const headers = { host: 'apps.localhost', authorization: `Bearer ${token}` }
  const settings = { DATABASE_URL, DATA_DIR, DRAIN_SECONDS: String(DRAIN_SECONDS), LOG_LEVEL: 'error' }
  return {
    async start({ port, internalPort }: { port: number; internalPort: number }) {
      const service = await launch({ ...settings, PORT: String(port), INTERNAL_PORT: String(internalPort) })
      const ready = () => send(internalPort, 'GET', '/readyz').catch(() => undefined)
      await until(ready, (answer) => answer?.status === 200)
      return service
    },
    /** Half of them writes, each to a key of its client. */
    ask: (client: number, n: number) =>
      n % 2 === 0
        ? { method: 'GET', path: '/v1/me/profile', headers }
        : { method: 'PUT', path: `/v1/storage/drain/c${client}`, headers, body: JSON.stringify({ value: n }) },
    /** The keys whose stored value is not the last one that was acknowledged. */
    async lost(outcomes: readonly Outcome[]) {
      const last = new Map<string, string>()
      for (const { ask, status } of outcomes) if (ask.method === 'PUT' && status === 200) last.set(ask.path, ask.body!)
      const fresh = openDatabase(DATABASE_URL, () => {})
      const rows = await fresh.storageEntry.findMany({ where: { collection: 'drain' } })
      await fresh.$disconnect()
      const stored = new Map(rows.map((row) => [`/v1/storage/drain/${row.key}`, `{"value":${row.value}}`]))
      return [...last].filter(([path, body]) => stored.get(path) !== body)
    },
  }
}
