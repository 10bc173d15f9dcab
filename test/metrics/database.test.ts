import { Registry } from 'prom-client'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { int, statement } from '../../prisma/pg/statement.ts'
import { databaseMetrics } from '../../server/telemetry/database-metrics.ts'
import { direct } from '../support/addresses.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { holdConnections } from './held-connections.ts'
import { samplesOf } from './samples.ts'

const failing = statement('test_metrics_failing', 'SELECT 1 / $1::int4 AS one', { one: int })

async function observed(url: string = inject('databaseUrl')) {
  const registry = new Registry()
  const db = openTestDatabase(url, { observer: databaseMetrics(registry) })
  onTestFinished(() => db.$disconnect())
  const sample = async (name: string) => samplesOf(await registry.metrics()).get(name)
  return { db, sample, errors: (of: string) => sample(`database_errors_total{class="${of}"}`) }
}

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
    const { db, errors } = await observed()
    const id = 'x'.repeat(300)
    await expect(db.execute(failing, ['0'])).rejects.toThrow('division by zero')
    await expect(db.$queryRaw`SELECT 1 / 0`).rejects.toThrow()
    await expect(db.inTransaction((client) => client.query('SELECT 1 / 0'))).rejects.toThrow()
    await expect(db.team.create({ data: { id, name: 'Team', level: 'hobby' } })).rejects.toThrow()
    expect([await errors('22'), await errors('23'), await errors('connection')]).toEqual([3, 1, 0])
  })

  it('count connections that are refused, and those that are lost', async () => {
    const away = await observed('postgresql://postgres@127.0.0.1:1/none')
    await expect(away.db.organisation.count()).rejects.toThrow()
    expect(await away.errors('connection')).toBe(1)

    const url = direct(await migratedDatabase())
    const { db, errors } = await observed(url)
    await db.organisation.count()
    await query(
      url,
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    await expect.poll(() => errors('connection')).toBe(1)
    expect(await errors('57')).toBe(1)
  })
})
