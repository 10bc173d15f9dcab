import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { openDatabase } from '../../prisma/client.ts'

let db: Database
beforeAll(() => {
  db = openDatabase(inject('databaseUrl'), () => {})
})
afterAll(() => db.$disconnect())

const give = { name: 'test_give', text: 'SELECT $1::text, pg_backend_pid()' }
const sleep = { name: 'test_sleep', text: 'SELECT pg_sleep($1::float8), pg_backend_pid()' }
const divide = { name: 'test_divide', text: 'SELECT 1 / $1::int4' }
const endSession = { name: 'test_end', text: 'SELECT pg_terminate_backend(pg_backend_pid())' }

describe('executions, more at once than there are connections', { timeout: 60_000 }, () => {
  it('each get the rows of their own, over as many connections as the pool has', async () => {
    const rows = await Promise.all(Array.from({ length: 500 }, (_, i) => db.execute(give, [String(i)])))
    expect(rows.map(([row]) => row![0])).toEqual(Array.from({ length: 500 }, (_, i) => String(i)))
    expect(new Set(rows.map(([row]) => row![1])).size).toBeLessThanOrEqual(10)
  })

  it('are not hurt by one that PostgreSQL refuses, nor by one whose connection ends', async () => {
    const wrong = [db.execute(divide, ['0']), db.execute(endSession, []), db.execute(divide, ['0'])]
    const right = Array.from({ length: 100 }, (_, i) => db.execute(give, [String(i)]))
    expect(await Promise.allSettled(wrong)).toMatchObject(Array(3).fill({ status: 'rejected' }))
    expect((await Promise.all(right)).map(([row]) => row![0])).toEqual(right.map((_, i) => String(i)))
  })

  it('let Prisma through', async () => {
    let ended = false
    let done = 0
    const flood = Array.from({ length: 40 }, async () => {
      while (!ended) {
        await db.execute(give, ['x'])
        done++
      }
    })
    for (let n = 0; n < 20; n++) expect(await db.$queryRaw`SELECT 1 AS one`).toEqual([{ one: 1 }])
    ended = true
    await Promise.all(flood)
    expect(done).toBeGreaterThan(20)
  })

  it('are given up when they have waited too long for a connection, and those that have one are not', async () => {
    const long = Array.from({ length: 10 }, () => db.execute(sleep, ['4.2']))
    const late = Array.from({ length: 5 }, () => db.execute(give, ['late']))
    const refusals = await Promise.allSettled(late)
    expect(refusals.map((one) => one.status === 'rejected' && one.reason.message)).toEqual(
      Array(5).fill('timeout exceeded when trying to connect'),
    )
    expect(await Promise.all(long)).toHaveLength(10)
    expect((await db.execute(give, ['after']))[0]![0]).toBe('after')
  })
})
