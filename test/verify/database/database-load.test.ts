import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import pino from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../../prisma/migrate.ts'
import { readConfig } from '../../../server/process/config.ts'
import { startService } from '../../../server/process/start.ts'
import { dataDirectory, send, until } from '../../process/service.ts'
import { query } from '../../support/databases.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import { pgClient } from '../../support/pg-client.ts'
import { headersOfAnna, seedDemo } from '../demo.ts'
import { halfWrites, lostWrites, startTraffic, tally } from '../topology/traffic.ts'
import type { OwnPostgres } from './own-postgres.ts'
import { ownPostgres } from './own-postgres.ts'

const CLIENTS = 20
const FAULT_MS = 3_500

/** For any response, whatever the database does: 6 s, and what the machine adds. */
const BOUND_MS = 8_000

/** From the return of the database to the first 200: until the last connection that hangs on it is closed. */
const BACK_MS = 5_500

interface Setting {
  postgres: OwnPostgres
  proxy: FaultProxy
}

const network =
  (fault: Fault) =>
  async ({ proxy }: Setting) => {
    await proxy.begin(fault)
    await pause(FAULT_MS)
    await proxy.end()
  }

/** Each fault, until it is over: the database takes connections and writes again. */
const faults: Record<string, (setting: Setting) => Promise<void>> = {
  refused: network('refuse'),
  reset: network('reset'),
  'a black hole': network('blackhole'),
  async 'restart -m fast'({ postgres }) {
    await postgres.restart()
  },
  async 'kill -9 of the postmaster'({ postgres }) {
    await postgres.kill()
    await pause(1_000)
    await postgres.start()
  },
  async 'connections cut, then all taken by others'({ postgres, proxy }) {
    await proxy.begin('reset')
    const release = await takeAllConnections(postgres.url)
    await proxy.end()
    await pause(FAULT_MS)
    await release()
  },
}

describe('20 clients, half of them writing', () => {
  it.each(Object.keys(faults))(
    'during %s get answers or 503 in time, and lose nothing that was acknowledged',
    async (name) => {
      const postgres = await ownPostgres({ max_connections: '40' })
      await postgres.start()
      const setting = await startLoaded(postgres)
      await expectBounded(setting, () => faults[name]!(setting))
    },
  )

  it('during a failover to a standby at another port get answers or 503 in time, and lose nothing that was acknowledged', async () => {
    const primary = await ownPostgres()
    const standby = await primary.standby()
    await primary.start()
    await standby.start()
    // A write is acknowledged when the standby has it.
    await query(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
    await query(primary.url, 'SELECT pg_reload_conf()')
    const setting = await startLoaded(primary)
    await expectBounded(setting, async () => {
      await primary.kill()
      setting.proxy.retarget(standby.port)
      // Reads are served by a standby, writes are not.
      await pause(1_000)
      await query(standby.url, 'SELECT pg_promote()')
    })
  })
})

async function expectBounded(
  { port, internalPort, ask, proxy }: Awaited<ReturnType<typeof startLoaded>>,
  fault: () => Promise<void>,
) {
  const traffic = startTraffic({ port, clients: CLIENTS, ask })
  await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(200)
  await fault()
  // As slow as the machine is: a connection of our own that may write.
  const start = performance.now()
  await until(
    () =>
      query(proxy.url, 'CREATE TEMP TABLE t ()').then(
        () => true,
        () => false,
      ),
    Boolean,
  )
  const own = performance.now() - start
  const returned = traffic.nowMs()
  const first = await until(
    async () => traffic.outcomes.find(({ status, endMs, ms }) => status === 200 && endMs - ms > returned),
    Boolean,
  )
  await until(
    () => send(internalPort, 'GET', '/readyz'),
    ({ status }) => status === 200,
    BACK_MS + 5 * own,
  )
  await until(
    async () => traffic.outcomes.slice(-100),
    (last) => last.every(({ status }) => status === 200),
  )
  const outcomes = await traffic.stop()

  const counts = tally(outcomes)
  const refused = outcomes.filter(({ status }) => status === 503)
  expect(Object.keys(counts)).toEqual(expect.toBeOneOf([['200'], ['200', '503']]))
  for (const { headers, text } of refused) {
    expect(headers['retry-after']).toBe('2')
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'unavailable' } })
  }
  expect(Math.max(...outcomes.map(({ ms }) => ms))).toBeLessThan(BOUND_MS)
  expect(first!.endMs - returned).toBeLessThan(BACK_MS + 5 * own)
  expect(await lostWrites(proxy.url, outcomes)).toEqual([])
}

/** Opens connections until the server has none left; resolves to what closes them. */
async function takeAllConnections(url: string) {
  const taken: pg.Client[] = []
  for (;;) {
    const client = pgClient(url)
    const connected = await client.connect().then(
      () => true,
      (error) => (error.code === '53300' ? false : Promise.reject(error)),
    )
    if (!connected) break
    taken.push(client)
  }
  return () => Promise.all(taken.map((client) => client.end()))
}

/** The service in this process, its database behind a proxy, and requests of a client that has no rate limit. */
async function startLoaded(postgres: OwnPostgres) {
  await migrate(postgres.url)
  await seedDemo(postgres.url)
  const proxy = await FaultProxy.to(postgres.url)
  const DATA_DIR = await dataDirectory()
  const env = { PORT: '0', INTERNAL_PORT: '0', DATABASE_URL: proxy.url, DATA_DIR, WEBHOOK_WORKER: 'false' }
  const service = await startService(readConfig(env), pino({ level: 'silent' }))
  onTestFinished(async () => {
    await proxy.end()
    await service.close()
    proxy.close()
  })
  const ask = halfWrites(await headersOfAnna(DATA_DIR))
  return { postgres, proxy, port: service.publicPort, internalPort: service.internalPort, ask }
}
