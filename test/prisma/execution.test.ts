import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { openDatabase } from '../../prisma/client.ts'
import { int, statement, text } from '../../prisma/pg/statement.ts'
import { direct } from '../support/addresses.ts'

let db: Database
beforeAll(() => {
  db = openDatabase(inject('databaseUrl'), () => {})
})
afterAll(() => db.$disconnect())

const give = statement('test_give', 'SELECT $1::text AS given, pg_backend_pid() AS pid', { given: text, pid: int })
const sleep = statement('test_sleep', 'SELECT FROM pg_sleep($1::float8)', {})
const divide = statement('test_divide', 'SELECT 1 / $1::int4 AS quotient', { quotient: int })
const endSession = statement('test_end', 'SELECT FROM pg_terminate_backend(pg_backend_pid())', {})

it('a statement that failed at first works on the same connection', async () => {
  const one = openDatabase(inject('databaseUrl'), () => {})
  await expect(one.execute(divide, ['0'])).rejects.toThrow('division by zero')
  expect(await one.execute(divide, ['1'])).toEqual([{ quotient: 1 }])
  expect(await one.execute(divide, ['-1'])).toEqual([{ quotient: -1 }])
  await one.$disconnect()
})

describe('more executions at once than connections', { timeout: 60_000 }, () => {
  it('each get their own rows, over at most as many connections as the pool has', async () => {
    const rows = await Promise.all(Array.from({ length: 500 }, (_, i) => db.execute(give, [String(i)])))
    expect(rows.map(([row]) => row!.given)).toEqual(Array.from({ length: 500 }, (_, i) => String(i)))
    expect(new Set(rows.map(([row]) => row!.pid)).size).toBeLessThanOrEqual(10)
  })

  it('succeed beside one that PostgreSQL rejects and one whose connection ends', async () => {
    const wrong = [db.execute(divide, ['0']), db.execute(endSession, []), db.execute(divide, ['0'])]
    const right = Array.from({ length: 100 }, (_, i) => db.execute(give, [String(i)]))
    expect(await Promise.allSettled(wrong)).toMatchObject(Array(3).fill({ status: 'rejected' }))
    expect((await Promise.all(right)).map(([row]) => row!.given)).toEqual(right.map((_, i) => String(i)))
  })

  it('do not starve Prisma', async () => {
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

  it('are rejected after 2.5 s of waiting for a connection; running ones are not', async () => {
    // Behind a PgBouncer whose connections are all busy, the question whether the database answers would wait as well.
    const db = openDatabase(direct(inject('databaseUrl')), () => {})
    onTestFinished(() => db.$disconnect())
    const long = Array.from({ length: 10 }, () => db.execute(sleep, ['4.2']))
    const late = Array.from({ length: 5 }, () => db.execute(give, ['late']))
    const refusals = await Promise.allSettled(late)
    expect(refusals.map((one) => one.status === 'rejected' && one.reason.message)).toEqual(
      Array(5).fill('timeout exceeded when trying to connect'),
    )
    expect(await Promise.all(long)).toHaveLength(10)
    expect(await db.execute(give, ['after'])).toMatchObject([{ given: 'after' }])
  })
})
