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
  const pid = async () => (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
  const before = await Promise.all([pid(), pid()])
  vi.advanceTimersByTime(299_999)
  expect((await Promise.all([pid(), pid()])).toSorted()).toEqual(before.toSorted())
  vi.advanceTimersByTime(300_000)
  expect(pool.totalCount).toBe(0)
})
