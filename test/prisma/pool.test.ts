import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { openPool } from '../../prisma/pg/pool.ts'
import { suiteLimits } from '../support/time-limits.ts'

it('connections stay open through five minutes without a request', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const pool = openPool({ connectionString: inject('databaseUrl') }, suiteLimits)
  onTestFinished(() => {
    vi.useRealTimers()
    return pool.end()
  })
  // Not by their process: PgBouncer gives each transaction another one.
  let opened = 0
  pool.on('connect', () => opened++)
  const use = () => Promise.all([pool.query('SELECT 1'), pool.query('SELECT 1')])
  await use()
  vi.advanceTimersByTime(299_999)
  await use()
  expect(opened).toBe(2)
  vi.advanceTimersByTime(300_000)
  expect(pool.totalCount).toBe(0)
})
