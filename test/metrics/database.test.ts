import { randomInt } from 'node:crypto'
import { Registry } from 'prom-client'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { int, statement } from '../../prisma/pg/statement.ts'
import { databaseMetrics } from '../../server/telemetry/database-metrics.ts'
import { direct } from '../support/addresses.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { suiteLimits } from '../support/time-limits.ts'
import { holdConnections } from './held-connections.ts'
import { parseSamples } from './samples.ts'

const failing = statement('suite_metrics_failing', 'SELECT 1 / $divisor::int4 AS one', { divisor: int }, { one: int })

async function observed(url: string = inject('databaseUrl'), limits = suiteLimits, noted = {}) {
  const registry = new Registry()
  const db = openTestDatabase(url, { observer: { ...databaseMetrics(registry), ...noted }, limits })
  onTestFinished(() => db.$disconnect())
  const sample = async (name: string) => parseSamples(await registry.metrics()).get(name)
  return {
    db,
    sample,
    errors: (of: string) => sample(`database_errors_total{class="${of}"}`),
    timeouts: () => sample('database_timeouts_total'),
    connectionFailures: () => sample('database_connection_failures_total'),
  }
}

it('the database is not reported as away by an attempt to connect that began before another one succeeded', async () => {
  const proxy = await FaultProxy.to(inject('databaseUrl'))
  onTestFinished(() => proxy.close())
  const said: string[] = []
  const { db } = await observed(proxy.url, suiteLimits, {
    away: () => said.push('away'),
    back: () => said.push('back'),
  })
  await proxy.begin('refuse')
  await expect(db.organisation.count()).rejects.toThrow()
  await proxy.end()
  await proxy.begin('blackhole')
  const early = db.organisation.count().catch(() => said.push('early failed'))
  // On a busy machine its first bytes may arrive later than its connection.
  await expect.poll(() => proxy.dropped).toBeGreaterThan(0)
  const breakEarly = proxy.breaking()
  await proxy.end()
  await db.organisation.count()
  breakEarly()
  await early
  expect(said).toEqual(['away', 'back', 'early failed'])
})

describe('the metrics of the pool', () => {
  it('have its connections by state, what waits, and for how long', async () => {
    const { db, sample } = await observed()
    const release = await holdConnections(db)
    let isReleased = false
    // On a busy machine the wait may time out before it is seen.
    const waiting = (async () => {
      while (!isReleased) await db.organisation.count().catch(() => {})
    })()
    const state = async () => [
      await sample('database_pool_connections{state="busy"}'),
      await sample('database_pool_connections{state="idle"}'),
      await sample('database_pool_waiting'),
    ]
    await expect.poll(state).toEqual([10, 0, 1])
    isReleased = true
    await release()
    await waiting
    await expect.poll(state).toEqual([0, 10, 0])
    expect(await sample('database_wait_seconds_count')).toBeGreaterThanOrEqual(11)
    expect(await sample('database_wait_seconds_sum')).toBeGreaterThan(0)
  })

  it('count the errors of Prisma, of our statements and of transactions by class', async () => {
    const { db, errors, timeouts, connectionFailures } = await observed()
    const id = 'x'.repeat(300)
    await expect(db.execute(failing, { divisor: 0 })).rejects.toThrow('division by zero')
    await expect(db.$queryRaw`SELECT 1 / 0`).rejects.toThrow()
    await expect(db.inTransaction((client) => client.query('SELECT 1 / 0'))).rejects.toThrow()
    await expect(db.team.create({ data: { id, name: 'Team', level: 'hobby' } })).rejects.toThrow()
    expect([await errors('22'), await errors('23')]).toEqual([3, 1])
    expect([await timeouts(), await connectionFailures()]).toEqual([0, 0])
  })

  it('count connections that are refused, and those that are lost', async () => {
    const away = await observed('postgresql://postgres@127.0.0.1:1/none')
    await expect(away.db.organisation.count()).rejects.toThrow()
    expect(await away.connectionFailures()).toBe(1)

    const url = direct(await migratedDatabase())
    const { db, errors, timeouts, connectionFailures } = await observed(url)
    await db.organisation.count()
    await query(
      url,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    await expect.poll(connectionFailures).toBe(1)
    expect([await errors('57'), await timeouts(), await away.timeouts()]).toEqual([1, 0, 0])
  })

  it('count statements that a lock outlasts, and waits for a connection, as time-outs alone', async () => {
    const locked = await observed()
    const lock = `SELECT pg_advisory_xact_lock(${randomInt(2 ** 31)})`
    await locked.db.inTransaction(async (holder) => {
      await holder.query(lock)
      const waiter = locked.db.inTransaction((client) => client.query(`SET LOCAL statement_timeout = '50ms'; ${lock}`))
      await expect(waiter).rejects.toThrow('statement timeout')
    })
    expect([await locked.timeouts(), await locked.errors('57')]).toEqual([1, undefined])

    const full = await observed(inject('databaseUrl'), { ...suiteLimits, placeMs: 1_000 })
    const release = await holdConnections(full.db)
    await expect(full.db.execute(failing, { divisor: 1 })).rejects.toThrow('timeout exceeded when trying to connect')
    await release()
    expect([await full.timeouts(), await full.connectionFailures()]).toEqual([1, 0])
    expect(await locked.connectionFailures()).toBe(0)
  })
})
