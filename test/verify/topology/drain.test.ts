import { describe, expect, it } from 'vitest'
import { dataDirectory, launch, send, until } from '../../process/service.ts'
import { migratedDatabase } from '../../support/databases.ts'
import { headersOfAnna, seedDemo } from '../demo.ts'
import { halfWrites, lostWrites, startTraffic, tally } from './traffic.ts'

const DRAIN_SECONDS = 2.5
const CLIENTS = 24

describe('a service that gets SIGTERM under load', () => {
  it('serves on with Connection: close while it is not ready, and resets no connection that is kept', async () => {
    const DATABASE_URL = await migratedDatabase()
    await seedDemo(DATABASE_URL)
    const DATA_DIR = await dataDirectory()
    const ask = halfWrites(await headersOfAnna(DATA_DIR))
    const env = { DATABASE_URL, DATA_DIR, DRAIN_SECONDS: String(DRAIN_SECONDS), LOG_LEVEL: 'error' }
    const service = await launch(env)
    const ready = () => send(service.internalPort, 'GET', '/readyz').catch(() => undefined)
    await until(ready, (answer) => answer?.status === 200)
    const traffic = startTraffic({ port: service.port, clients: CLIENTS, ask })
    await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(200)

    service.child.kill('SIGTERM')
    const signalled = traffic.nowMs()
    await expect.poll(() => send(service.internalPort, 'GET', '/readyz')).toMatchObject({ status: 503 })
    expect((await send(service.internalPort, 'GET', '/readyz?exclude=database')).status).toBe(503)
    expect((await send(service.internalPort, 'GET', '/healthz')).headers.connection).toBe('close')
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
    expect(await lostWrites(DATABASE_URL, outcomes)).toEqual([])
  })
})
