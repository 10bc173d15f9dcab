import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import type { Task } from '../../routers/kernel/housekeeping.ts'
import { openHousekeeping, PORTION } from '../../routers/kernel/housekeeping.ts'
import { startHousekeeping } from '../../server/process/housekeeping.ts'
import { ask } from '../support/ask.ts'
import { migratedDatabase } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'

const now = () => Date.parse('2026-11-22T12:00:00Z')

/** One for each worker process of Vitest; dropped after the run. */
let database: Promise<string> | undefined
let url = ''
beforeEach(async () => {
  database ??= migratedDatabase(() => {})
  url = await database
  await ask(url, 'DELETE FROM "Housekeeping"')
})

/** As another process has it. */
function connect(): Database {
  const db = openTestDatabase(url)
  onTestFinished(() => db.$disconnect())
  return db
}

/** A task with so many portions to do; `done` has the limit of each. */
function makeTask(name: string, portions: number) {
  const done: number[] = []
  const step: Task['step'] = async (_db, _now, limit) => {
    if (done.length === portions) return 0
    done.push(limit)
    return limit
  }
  return { task: { name, every: 3_600, step }, done }
}

const rows = () =>
  ask(
    url,
    `SELECT name, "leasedUntil" IS NOT NULL AS leased, "finishedAt" IS NOT NULL AS finished, removed::int,
       round(extract(epoch FROM "nextAt" - now()))::int AS "dueIn" FROM "Housekeeping" ORDER BY name`,
  )

describe('a sweep', () => {
  it('does what is due in portions, in turns, until nothing is left, and not again for the time of the task', async () => {
    const order: string[] = []
    const [one, other] = [makeTask('one', 3), makeTask('other', 2)]
    const options = { db: connect(), tasks: [one.task, other.task], now, removed: (task: string) => order.push(task) }
    await openHousekeeping(options).sweep()
    expect(order.slice(0, 4).toSorted()).toEqual(['one', 'one', 'other', 'other'])
    expect(order[0]).not.toBe(order[1])
    expect([one.done, other.done]).toEqual([Array(3).fill(PORTION), Array(2).fill(PORTION)])
    const finished = { leased: false, finished: true, dueIn: expect.toSatisfy((s: number) => s > 3_500 && s <= 3_600) }
    expect(await rows()).toEqual([
      { name: 'one', removed: 3 * PORTION, ...finished },
      { name: 'other', removed: 2 * PORTION, ...finished },
    ])

    const again = makeTask('one', 1)
    await openHousekeeping({ ...options, tasks: [again.task] }).sweep()
    expect(again.done).toEqual([])
  })

  it('is shared by several processes: one at a time does a portion of a task', async () => {
    let [underWay, most, portions] = [0, 0, 0]
    const step = async () => {
      if (portions === 20) return 0
      most = Math.max(most, ++underWay)
      portions++
      await pause(5)
      underWay--
      return 1
    }
    const tasks = [{ name: 'shared', every: 3_600, step }]
    await Promise.all([1, 2, 3, 4].map(() => openHousekeeping({ db: connect(), tasks, now }).sweep()))
    expect([most, portions]).toEqual([1, 20])
    expect(await rows()).toMatchObject([{ name: 'shared', removed: 20, leased: false, finished: true }])
  })

  it('leaves a portion to the process that has its lease, and takes over when the lease has run out', async () => {
    const db = connect()
    const { task, done } = makeTask('left', 1)
    const left = (lease: string) => ask(url, `UPDATE "Housekeeping" SET "leasedUntil" = now() + interval '${lease}'`)
    // Columns round to milliseconds, and a sweep truncates: now could be due a millisecond later.
    await ask(url, `INSERT INTO "Housekeeping" (name, "nextAt") VALUES ('left', now() - interval '1 s')`)
    await left('60 s')
    await openHousekeeping({ db, tasks: [task], now }).sweep()
    expect(done).toEqual([])
    await left('-1 ms')
    await openHousekeeping({ db, tasks: [task], now }).sweep()
    expect(done).toEqual([PORTION])
  })

  it('does not end the lease of another process when its own has run out during a portion', async () => {
    const step = async () => {
      await ask(url, `UPDATE "Housekeeping" SET "leasedUntil" = now() + interval '50 s'`)
      return 7
    }
    await openHousekeeping({ db: connect(), tasks: [{ name: 'slow', every: 3_600, step }], now }).sweep()
    expect(await rows()).toMatchObject([{ leased: true, finished: false, removed: 0 }])
  })

  it('halves a portion whose statement times out until it ends in time', async () => {
    const limits: number[] = []
    // 0.1 ms for a row, and a time-out of 0.1 s.
    const step: Task['step'] = async (db, _now, limit) => {
      limits.push(limit)
      if (limits.length > 8) return 0
      await db.$transaction(async (tx) => {
        await tx.$executeRaw`SET LOCAL statement_timeout = '100ms'`
        await tx.$executeRaw`SELECT pg_sleep(${limit}::float8 / 10000)`
      })
      return limit
    }
    const failed: unknown[] = []
    const tasks = [{ name: 'heavy', every: 3_600, step }]
    await openHousekeeping({ db: connect(), tasks, now, failed: (_, error) => failed.push(error) }).sweep()
    expect(limits.slice(0, 4)).toEqual([5_000, 2_500, 1_250, 625])
    expect(failed).toEqual([])
    expect((await rows())[0].removed).toBeGreaterThan(0)
  })

  it('goes on with other tasks after one that fails, which is due again some minutes later', async () => {
    const broken = { name: 'broken', every: 3_600, step: () => Promise.reject(new Error('no such table')) }
    const { task, done } = makeTask('well', 2)
    const failed: string[] = []
    const note = (name: string, error: unknown) => failed.push(`${name}: ${(error as Error).message}`)
    await openHousekeeping({ db: connect(), tasks: [broken, task], now, failed: note }).sweep()
    expect([failed, done.length]).toEqual([['broken: no such table'], 2])
    const [{ dueIn, ...row }] = await rows()
    expect(row).toEqual({ name: 'broken', leased: false, finished: false, removed: 0 })
    expect(dueIn).toBeGreaterThan(290)
    expect(dueIn).toBeLessThanOrEqual(300)
  })

  it('gives all portions of a task the time of its first one, and the next sweep its own, also after another process', async () => {
    let time = 0
    const seen: number[] = []
    const step: Task['step'] = async (_db, at) => {
      seen.push(at)
      time++
      return seen.length % 3 === 0 ? 0 : 1
    }
    const ending = new AbortController()
    const tasks = [{ name: 'timed', every: 3_600, step }]
    const open = (removed = () => {}) => openHousekeeping({ db: connect(), tasks, now: () => time, removed })
    const [one, other] = [open(() => ending.abort()), open()]
    await one.sweep(ending.signal)
    await other.clean()
    await one.clean()
    expect(seen).toEqual([0, 1, 1, 3, 3, 3])
  })

  it('ends after the current portion when it is stopped', async () => {
    const ending = new AbortController()
    const { task, done } = makeTask('long', 1_000)
    const options = { db: connect(), tasks: [task], now, removed: () => done.length === 3 && ending.abort() }
    await openHousekeeping(options).sweep(ending.signal)
    expect(done).toHaveLength(3)
    expect(await rows()).toMatchObject([{ leased: false, finished: false, removed: 3 * PORTION }])
  })
})

describe('cleaning now', () => {
  it('does every task, due or not, waits for the portion of another process, and returns the rows of each', async () => {
    const [one, other] = [makeTask('one', 2), makeTask('other', 0)]
    await ask(
      url,
      `INSERT INTO "Housekeeping" (name, "nextAt", "leasedUntil") VALUES ('one', now() + interval '1 h', now() + interval '100 ms')`,
    )
    const { clean } = openHousekeeping({ db: connect(), tasks: [one.task, other.task], now })
    expect([...(await clean())]).toEqual([
      ['one', 2 * PORTION],
      ['other', 0],
    ])
  })

  it('throws what a step throws', async () => {
    const broken = { name: 'broken', every: 3_600, step: () => Promise.reject(new Error('no such table')) }
    await expect(openHousekeeping({ db: connect(), tasks: [broken], now }).clean()).rejects.toThrow('no such table')
  })
})

describe('housekeeping of a service', () => {
  it('looks for the first time after its interval', async () => {
    const at: number[] = []
    const step = async () => {
      at.push(Date.now())
      return 0
    }
    const intervalMs = 200
    const begin = Date.now()
    const tasks = [{ name: 'first', every: 3_600, step }]
    onTestFinished(startHousekeeping({ db: connect(), now, tasks, log: pino({ level: 'silent' }), intervalMs }))
    await expect.poll(() => at.length).toBe(1)
    // Timers may be a millisecond early.
    expect(at[0]! - begin).toBeGreaterThanOrEqual(intervalMs - 1)
  })

  it('looks again and again, logs what it removed, and ends with the portion under way', async () => {
    const lines: string[] = []
    const log = pino({}, { write: (line) => void lines.push(line) })
    const { task, done } = makeTask('records', 2)
    const counted: [string, number][] = []
    const removed = (...one: [string, number]) => counted.push(one)
    const stop = startHousekeeping({ db: connect(), now, tasks: [task], log, removed, intervalMs: 20 })
    onTestFinished(stop)
    await expect.poll(() => lines.map((line) => JSON.parse(line).removed)).toEqual([{ records: 2 * PORTION }])
    expect([done.length, counted]).toEqual([2, Array(2).fill(['records', PORTION])])

    done.length = 0
    await ask(url, `UPDATE "Housekeeping" SET "nextAt" = now() - interval '1 s'`)
    await expect.poll(() => done.length).toBe(2)
    await stop()
    done.length = 0
    await ask(url, `UPDATE "Housekeeping" SET "nextAt" = now() - interval '1 s'`)
    await pause(100)
    expect(done).toEqual([])
  })
})
