import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import type { Task } from '../../routers/kernel/housekeeping.ts'
import { openHousekeeping } from '../../routers/kernel/housekeeping.ts'
import { housekeepingTasks } from '../../server/process/housekeeping.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { ask } from '../support/ask.ts'
import { countingProxy } from '../support/counting-proxy.ts'
import { migratedDatabase } from '../support/databases.ts'
import { SECRETS_KEY } from '../support/secrets-key.ts'
import { openTestDatabase } from '../support/test-database.ts'

const MINUTE_MS = 60_000
const HOUR = 60

/** A node at rest may send 60 statements a minute, and sends 39 beside housekeeping. */
const MOST = 60 - 39

const hourly = (tasks: readonly Task[]) => tasks.filter(({ every }) => every > 60).map(({ name }) => name)

let url = ''
let now = 0
beforeEach(async () => {
  url = await migratedDatabase()
  now = Date.now()
})

const serviceTasks = () => {
  const cipher = createCipher([Buffer.from(SECRETS_KEY, 'base64')])
  return housekeepingTasks({ keepDays: { events: 30, consents: 30 }, signingKeyDays: 90 }, cipher, async () => 0)
}

/** A node whose steps are noted by the minute in which they ran, and its statements. */
async function startNode(tasks: readonly Task[] = serviceTasks()) {
  const proxy = await countingProxy(url)
  const db = openTestDatabase(proxy.url)
  onTestFinished(() => db.$disconnect())
  const runs: Record<string, number[]> = Object.fromEntries(tasks.map(({ name }) => [name, []]))
  const noted = tasks.map(({ step, ...task }) => ({
    ...task,
    step: (...values: Parameters<Task['step']>) => {
      runs[task.name]!.push(minute)
      return step(...values)
    },
  }))
  let minute = 0
  const { sweep, clean } = openHousekeeping({ db, tasks: noted, now: () => now })
  return {
    runs,
    clean,
    /** The statements of a sweep. */
    async sweep(inMinute: number) {
      minute = inMinute
      const before = proxy.statements()
      await sweep()
      return proxy.statements() - before
    },
  }
}

/** The database has the time of the tasks: in place of its clock, their times move. */
async function passMinutes(minutes: number) {
  now += minutes * MINUTE_MS
  const back = `- make_interval(mins => ${minutes})`
  await ask(url, `UPDATE "Housekeeping" SET "nextAt" = "nextAt" ${back}, "leasedUntil" = "leasedUntil" ${back}`)
}

describe('the hourly tasks of a service at rest', () => {
  it('leave it at most 60 statements in each minute, and keep their interval', async () => {
    const tasks = serviceTasks()
    const { runs, sweep } = await startNode(tasks)
    const statements: number[] = []
    for (let minute = 0; minute < 3 * HOUR; minute++) {
      statements.push(await sweep(minute))
      await passMinutes(1)
    }
    expect(Math.max(...statements)).toBeLessThanOrEqual(MOST)
    for (const name of hourly(tasks)) {
      expect([name, runs[name]!.length]).toEqual([name, 3])
      expect(runs[name]![0]).toBeLessThan(hourly(tasks).length / 2)
      expect(runs[name]!.map((minute) => minute - runs[name]![0]!)).toEqual([0, 60, 120])
    }
    expect([runs['oauth-records']!.length, runs.mails!.length]).toEqual([3 * HOUR, 3 * HOUR])
  })

  it('are spread after a start on a database where all have been due for hours, those overdue longest first', async () => {
    const tasks = serviceTasks()
    const first = await startNode(tasks)
    await first.clean()
    const names = hourly(tasks)
    // Each is due a second later than the former one.
    for (const [second, name] of names.entries()) {
      const due = `now() - interval '5 hours' + interval '${second} s'`
      await ask(url, `UPDATE "Housekeeping" SET "nextAt" = ${due} WHERE name = '${name}'`)
    }
    const { runs, sweep } = await startNode(tasks)
    for (let minute = 0; minute < HOUR; minute++) {
      expect(await sweep(minute)).toBeLessThanOrEqual(MOST)
      await passMinutes(1)
    }
    expect(names.map((name) => runs[name])).toEqual(names.map((_, i) => [Math.floor(i / 2)]))
  })

  it('are each done once by several nodes, which take two a minute each', async () => {
    const tasks = serviceTasks()
    const nodes = [await startNode(tasks), await startNode(tasks), await startNode(tasks)]
    for (let minute = 0; minute < HOUR; minute++) {
      const statements = await Promise.all(nodes.map((node) => node.sweep(minute)))
      expect(Math.max(...statements)).toBeLessThanOrEqual(MOST)
      await passMinutes(1)
    }
    for (const name of hourly(tasks)) {
      const minutes = nodes.flatMap(({ runs }) => runs[name]!)
      expect([name, minutes.length]).toEqual([name, 1])
      expect(minutes[0]).toBeLessThanOrEqual(Math.ceil(hourly(tasks).length / 6))
    }
  })

  it('all run at once when they are cleaned', async () => {
    const tasks = serviceTasks()
    const { runs, clean } = await startNode(tasks)
    expect((await clean()).size).toBe(tasks.length)
    expect(Object.values(runs).map((minutes) => minutes.length)).toEqual(tasks.map(() => 1))
  })
})

describe('a sweep that takes long', () => {
  const idle = (name: string): Task => ({ name, every: 3_600, step: async () => 0 })

  it('begins two more tasks each minute, beside those that it has begun', async () => {
    let portions = 0
    /** A portion a minute. */
    const long: Task = {
      ...idle('a long one'),
      step: async () => {
        now += MINUTE_MS
        return ++portions > 5 ? 0 : 1
      },
    }
    const others = Array.from({ length: 6 }, (_, i) => idle(`other ${i}`))
    const { runs, sweep } = await startNode([long, ...others])
    const order = [long, ...others].map(({ name }, i) => `('${name}', now() - interval '1 h' + interval '${i} s')`)
    await ask(url, `INSERT INTO "Housekeeping" (name, "nextAt") VALUES ${order}`)
    await sweep(0)
    expect(Object.values(runs).map((minutes) => minutes.length)).toEqual([6, 1, 1, 1, 1, 1, 1])
  })

  it('does the tasks of each minute beside it', async () => {
    const minutely: Task = { name: 'minutely', every: 60, step: async () => 0 }
    const { runs, sweep } = await startNode([idle('a'), idle('b'), idle('c'), minutely])
    await ask(
      url,
      `INSERT INTO "Housekeeping" (name, "nextAt") SELECT name, now() - interval '1 h' FROM unnest('{a,b,c}'::text[]) AS t (name)`,
    )
    await sweep(0)
    expect([runs.a, runs.b, runs.c].flat()).toEqual([0, 0])
    expect(runs.minutely).toEqual([0])
  })
})

const OWN = ['execute', 'inTransaction']

it('tasks with nothing to do use no method of Prisma, which would be loaded for them: 55 MB', async () => {
  const database = openTestDatabase(url)
  onTestFinished(() => database.$disconnect())
  const used: string[] = []
  const db = new Proxy(database, {
    get(target, key: keyof Database & string) {
      if (!OWN.includes(key)) used.push(key)
      return target[key]
    },
  })
  const tasks = serviceTasks()
  const failures: unknown[] = []
  const { clean } = openHousekeeping({ db, tasks, now: Date.now, failed: (_, error) => failures.push(error) })
  expect((await clean()).size).toBe(tasks.length)
  expect({ used, failures }).toEqual({ used: [], failures: [] })
})
