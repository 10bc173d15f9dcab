import { createHash, randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { bindMessage } from '../../prisma/pg/bind-message.ts'
import { ConnectionShares } from '../../prisma/pg/connection-shares.ts'
import { executeIn, executeOn } from '../../prisma/pg/execute.ts'
import { getSocket } from '../../prisma/pg/pg-internals.ts'
import { openPool } from '../../prisma/pg/pool.ts'
import {
  bool,
  float,
  instant,
  int,
  json,
  largeTexts,
  nullable,
  oneOf,
  statement,
  text,
  texts,
} from '../../prisma/pg/statement.ts'
import { direct } from '../support/addresses.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { suiteLimits } from '../support/time-limits.ts'

let db: Database
beforeAll(() => {
  db = openTestDatabase(inject('databaseUrl'))
})
afterAll(() => db.$disconnect())

const give = statement(
  'suite_give',
  'SELECT $value::text AS given, pg_backend_pid() AS pid',
  { value: text },
  { given: text, pid: int },
)
const wait = statement('suite_wait', 'SELECT FROM pg_advisory_xact_lock($lock::int8)', { lock: int }, {})
const divide = statement('suite_divide', 'SELECT 1 / $divisor::int4 AS quotient', { divisor: int }, { quotient: int })
const endSession = statement('suite_end', 'SELECT FROM pg_terminate_backend(pg_backend_pid())', {}, {})

it('a statement that failed at first works on the same connection', async () => {
  const one = openTestDatabase(inject('databaseUrl'))
  await expect(one.execute(divide, { divisor: 0 })).rejects.toThrow('division by zero')
  expect(await one.execute(divide, { divisor: 1 })).toEqual([{ quotient: 1 }])
  expect(await one.execute(divide, { divisor: -1 })).toEqual([{ quotient: -1 }])
  await one.$disconnect()
})

const standby = statement(
  'suite_standby',
  `SELECT set_config('default_transaction_read_only', 'on', false)`,
  {},
  { on: text },
)
const change = statement('suite_change', `UPDATE "Team" SET name = name WHERE false`, {}, {})

it.each<[string, (one: Database) => Promise<unknown>]>([
  ['a statement', (one) => one.execute(change, {})],
  ['a transaction', (one) => one.inTransaction((client) => executeIn(client, change, {}))],
  ["a transaction of Prisma's", (one) => one.$transaction((tx) => executeIn(tx, change, {}))],
])('%s that fails as the server has become a standby leaves no connection to it', async (_, write) => {
  const one = openTestDatabase(direct(inject('databaseUrl')), { max: 1 })
  onTestFinished(() => one.$disconnect())
  await one.execute(standby, {})
  await expect(write(one)).rejects.toThrow('read-only transaction')
  expect(await write(one)).toEqual([])
})

it('a statement on a connection that falls silent is rejected, and the next one gets another connection', async () => {
  const proxy = await FaultProxy.to(direct(inject('databaseUrl')))
  const one = openTestDatabase(proxy.url, { max: 1, limits: { ...suiteLimits, stalledMs: 1_000 } })
  onTestFinished(async () => {
    await one.$disconnect()
    proxy.close()
  })
  const [before] = await one.execute(give, { value: 'before' })
  await proxy.begin('blackhole')
  await expect(one.execute(give, { value: 'silent' })).rejects.toThrow('Query read timeout')
  await proxy.end()
  const [after] = await one.execute(give, { value: 'after' })
  expect(after!.given).toBe('after')
  expect(after!.pid).not.toBe(before!.pid)
})

it('a statement on a connection that was idle for longer than its limit, and then falls silent, is rejected', async () => {
  const proxy = await FaultProxy.to(direct(inject('databaseUrl')))
  const pool = openPool(
    { connectionString: proxy.url, max: 1, idleTimeoutMillis: 0 },
    { ...suiteLimits, stalledMs: 1_000 },
  )
  onTestFinished(async () => {
    await pool.end()
    proxy.close()
  })
  const execute = executeOn(new ConnectionShares(pool, { places: 1, waitMs: suiteLimits.placeMs }))
  const connected = once(pool, 'connect')
  await execute(give, { value: 'before' })
  const [client] = await connected
  await once(getSocket(client), 'timeout')
  await proxy.begin('blackhole')
  await expect(execute(give, { value: 'silent' })).rejects.toThrow('Query read timeout')
})

describe('values of megabytes', () => {
  const digest = statement(
    'suite_digest',
    `SELECT $before::text AS before, md5($value::text) AS digest, $none::text IS NULL AS missing,
      cardinality($values::text[]) AS count, md5($values[2]) AS second, pg_backend_pid() AS pid`,
    { before: text, value: text, none: nullable(text), values: largeTexts },
    { before: text, digest: text, missing: bool, count: int, second: text, pid: int },
  )
  const makeText = (bytes: number) => Buffer.from(randomBytes(bytes / 2).toString('hex'))
  const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex')

  it('arrive whole, beside texts, null and arrays', async () => {
    for (const bytes of [64 * 1024, 64 * 1024 + 2, 3_000_000]) {
      const value = makeText(bytes)
      const [row] = await db.execute(digest, { before: 'Grüße', value, none: null, values: ['one', value, null] })
      const own = { before: 'Grüße', digest: md5(value), missing: true, count: 3, second: md5(value) }
      expect(row).toMatchObject(own)
    }
  })

  it('are sent from their own memory, without a copy', () => {
    const value = makeText(100_000)
    expect(bindMessage('name', ['text', value, null]).some((part) => part === value)).toBe(true)
  })

  it('leave the connection usable when PostgreSQL rejects one', async () => {
    const one = openTestDatabase(direct(inject('databaseUrl')), { max: 1 })
    onTestFinished(() => one.$disconnect())
    const of = (value: Buffer) => one.execute(digest, { before: '', value, none: null, values: ['one', 'two'] })
    const [before] = await of(makeText(1_000_000))
    await expect(of(Buffer.alloc(1_000_000))).rejects.toThrow('invalid byte sequence')
    const [after] = await of(makeText(1_000_000))
    expect(after!.pid).toBe(before!.pid)
  })
})

describe('more executions at once than connections', () => {
  it('each get their own rows, over at most as many connections as the pool has', async () => {
    const rows = await Promise.all(Array.from({ length: 500 }, (_, i) => db.execute(give, { value: String(i) })))
    expect(rows.map(([row]) => row!.given)).toEqual(Array.from({ length: 500 }, (_, i) => String(i)))
    expect(new Set(rows.map(([row]) => row!.pid)).size).toBeLessThanOrEqual(10)
  })

  it('succeed beside one that PostgreSQL rejects and one whose connection ends', async () => {
    const wrong = [db.execute(divide, { divisor: 0 }), db.execute(endSession, {}), db.execute(divide, { divisor: 0 })]
    const right = Array.from({ length: 100 }, (_, i) => db.execute(give, { value: String(i) }))
    expect(await Promise.allSettled(wrong)).toMatchObject(Array(3).fill({ status: 'rejected' }))
    expect((await Promise.all(right)).map(([row]) => row!.given)).toEqual(right.map((_, i) => String(i)))
  })

  it('do not starve Prisma', async () => {
    let ended = false
    let done = 0
    const flood = Array.from({ length: 40 }, async () => {
      while (!ended) {
        await db.execute(give, { value: 'x' })
        done++
      }
    })
    for (let n = 0; n < 20; n++) expect(await db.$queryRaw`SELECT 1 AS one`).toEqual([{ one: 1 }])
    ended = true
    await Promise.all(flood)
    expect(done).toBeGreaterThan(20)
  })

  it('are rejected when they have waited for a connection as long as the limit; running ones are not', async () => {
    // Behind a PgBouncer whose connections are all busy, the question whether the database answers would wait as well.
    const url = direct(inject('databaseUrl'))
    const full = openTestDatabase(url, { max: 1, limits: { ...suiteLimits, placeMs: 1_000 } })
    onTestFinished(() => full.$disconnect())
    const lock = randomInt(2 ** 47)
    const { running, late } = await db.inTransaction(async (client) => {
      await client.query('SELECT pg_advisory_xact_lock($1)', [lock])
      const running = full.execute(wait, { lock })
      const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND (classid::int8 << 32) + objid::int8 = $1`
      await expect.poll(async () => (await client.query(waiting, [lock])).rowCount).toBe(1)
      return {
        running,
        late: await Promise.allSettled(Array.from({ length: 5 }, () => full.execute(give, { value: 'late' }))),
      }
    })
    expect(late.map((one) => one.status === 'rejected' && one.reason.message)).toEqual(
      Array(5).fill('timeout exceeded when trying to connect'),
    )
    expect(await running).toEqual([{}])
    expect(await full.execute(give, { value: 'after' })).toMatchObject([{ given: 'after' }])
  })
})

describe('a statement in a transaction', () => {
  const every = statement(
    'suite_every_type',
    `SELECT $bool::bool AS bool, $int::int8 AS int, $float::float8 AS float, $instant::timestamptz AS instant,
      $json::json AS json, $text::text AS text, NULL::text AS none, 'club'::"OrganisationKind" AS kind, $texts::text[] IS NULL AS missing`,
    {
      bool,
      int,
      float,
      instant,
      json: json<object>(),
      text,
      texts: nullable(texts),
    },
    {
      bool,
      int,
      float,
      instant,
      json: json<object>(),
      text,
      none: nullable(text),
      kind: oneOf('academy', 'club', 'provider'),
      missing: bool,
    },
  )
  const values = {
    bool: false,
    int: Number.MAX_SAFE_INTEGER,
    float: 0.1,
    instant: Date.UTC(2026, 1, 3, 4, 5, 6, 789),
    json: { a: [1, 'b', null] },
    text: 'Grüße',
    texts: null,
  }
  const row = {
    ...values,
    instant: new Date(values.instant),
    none: null,
    kind: 'club',
    missing: true,
    texts: undefined,
  }

  it.each([
    ['of our own', () => db.inTransaction((client) => executeIn(client, every, values))],
    ["of Prisma's", () => db.$transaction((tx) => executeIn(tx, every, values))],
    ['of its own', () => db.execute(every, values)],
  ])('%s has the values and the rows that it declares', async (_, read) => {
    expect(await read()).toEqual([row])
  })

  const insert = statement(
    'suite_insert',
    `INSERT INTO "Organisation" (id, name, kind) VALUES ($id, '', 'club') RETURNING id`,
    { id: text },
    { id: text },
  )

  it.each([
    ['our own', (id: string) => db.inTransaction((client) => failAfter(executeIn(client, insert, { id })))],
    ["Prisma's", (id: string) => db.$transaction((tx) => failAfter(executeIn(tx, insert, { id })))],
  ])('is rolled back with %s', async (name, run) => {
    await expect(run(`rolled back, ${name}`)).rejects.toThrow('after the statement')
    expect(await db.organisation.count({ where: { id: `rolled back, ${name}` } })).toBe(0)
  })

  const failAfter = async (work: Promise<unknown>) => {
    await work
    throw new Error('after the statement')
  }

  it('fails with the error of PostgreSQL, and leaves the connection usable', async () => {
    const one = openTestDatabase(inject('databaseUrl'), { max: 1 })
    onTestFinished(() => one.$disconnect())
    const failing = one.inTransaction((client) => executeIn(client, divide, { divisor: 0 }))
    await expect(failing).rejects.toThrow('division by zero')
    expect(await one.inTransaction((client) => executeIn(client, divide, { divisor: 1 }))).toEqual([{ quotient: 1 }])
  })
})
