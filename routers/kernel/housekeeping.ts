import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../prisma/client.ts'
import { bool, float, int, nullable, statement, text, texts, timestamp } from '../../prisma/pg/statement.ts'
import { sqlState } from './database-errors.ts'

/** The maximum number of rows per step, so that its statements end long before their time-out. */
export const PORTION = 5_000
/** The lower bound for halving a portion after a statement timed out, on a slow disk or behind many locks. */
const LEAST = 50

/** A portion ends long before. After this time another process takes over from a killed one. */
const LEASE_S = 60
const RETRY_S = 300
const LOOK_AGAIN_MS = 500

/** A sweep begins this many of the tasks that are not due each minute: a service at rest sends few statements in any minute. */
export const BEGUN_A_MINUTE = 2
const MINUTE_S = 60

export interface Task {
  name: string
  /** Seconds from the end of one sweep to the next. */
  every: number
  /**
   * Removes, or changes, at most `limit` rows and returns their number; 0 when nothing is left of what was due at `now`, when the
   * sweep began (Unix time in milliseconds): what others write meanwhile waits for the next one, or a sweep beside steady writers
   * would never end. Several processes may run it at once: it skips locked rows.
   */
  step: (db: Database, now: number, limit: number) => Promise<number>
}

interface Options {
  db: Database
  tasks: readonly Task[]
  now: () => number
  /** Called after each portion that removed rows. */
  removed?: (task: string, rows: number) => void
  /** Called when a step failed; it is tried again some minutes later. */
  failed?: (task: string, error: unknown) => void
}

/** The server's clock, as the nodes' clocks differ; truncated, so that it is never in the future. */
const NOW = `date_trunc('milliseconds', clock_timestamp())`

const statements = {
  register: statement(
    'housekeeping_register',
    `INSERT INTO "Housekeeping" (name, "nextAt") SELECT name, ${NOW} FROM unnest($names::text[]) AS task (name)
      ON CONFLICT DO NOTHING`,
    { names: texts },
    {},
  ),
  /** Takes the task that has been due for the longest time and that no other process has; with `early` also tasks not yet due. */
  take: statement(
    'housekeeping_take',
    `UPDATE "Housekeeping" SET "leasedUntil" = ${NOW} + make_interval(secs => ${LEASE_S})
      WHERE name = (SELECT name FROM "Housekeeping"
        WHERE name = ANY ($names::text[]) AND ($early::bool OR "nextAt" <= ${NOW})
          AND ("leasedUntil" IS NULL OR "leasedUntil" <= ${NOW})
        ORDER BY "nextAt", removed LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING name, "leasedUntil" AS lease, "finishedAt"`,
    { names: texts, early: bool },
    { name: text, lease: timestamp, finishedAt: nullable(timestamp) },
  ),
  /** Does nothing when the lease has expired and another process has taken one. */
  putBack: statement(
    'housekeeping_put_back',
    `UPDATE "Housekeeping" SET "leasedUntil" = NULL, "nextAt" = ${NOW} + make_interval(secs => $pause::float8),
        removed = removed + $removed::int8, "finishedAt" = CASE WHEN $finished::bool THEN ${NOW} ELSE "finishedAt" END
      WHERE name = $name AND "leasedUntil" = $lease::timestamptz`,
    { name: text, lease: timestamp, pause: float, removed: int, finished: bool },
    {},
  ),
  finished: statement(
    'housekeeping_finished',
    `SELECT name, extract(epoch FROM "finishedAt")::float8 AS "finishedAt" FROM "Housekeeping"
      WHERE name = ANY ($names::text[])`,
    { names: texts },
    { name: text, finishedAt: nullable(float) },
  ),
}

type Portion = { task: string; removed: number; finished: boolean; error?: unknown }

/**
 * When each of these tasks last finished, in Unix seconds; null before its first run. The rows of others stay: of those that need
 * a setting that is gone, or that another release has.
 */
export async function readFinished(db: Database, tasks: readonly Task[]): Promise<Record<string, number | null>> {
  const rows = await db.execute(statements.finished, { names: tasks.map(({ name }) => name) })
  return Object.fromEntries(rows.map(({ name, finishedAt }) => [name, finishedAt]))
}

/** Runs the tasks in portions; only one process at a time runs a portion of a task. */
export function openHousekeeping({ db, tasks, now, removed = () => {}, failed }: Options) {
  const limits = new Map<string, number>()
  const beginnings = new Map<string, { finishedAt: string | null; at: number }>()
  const register = () => db.execute(statements.register, { names: tasks.map(({ name }) => name) })

  /** The time of the first portion of a task by this process since it finished the last time, by whichever process. */
  function readBeginning(name: string, finishedAt: string | null): number {
    const known = beginnings.get(name)
    if (known?.finishedAt === finishedAt) return known.at
    const at = now()
    beginnings.set(name, { finishedAt, at })
    return at
  }

  async function work({ name, every, step }: Task, finishedAt: string | null): Promise<Portion & { next: number }> {
    const limit = limits.get(name) ?? PORTION
    try {
      const rows = await step(db, readBeginning(name, finishedAt), limit)
      if (rows > 0) return { task: name, removed: rows, finished: false, next: 0 }
      limits.delete(name)
      beginnings.delete(name)
      return { task: name, removed: 0, finished: true, next: every }
    } catch (error) {
      const smaller = Math.max(LEAST, Math.floor(limit / 2))
      limits.set(name, smaller)
      const again = smaller < limit && isTimeout(error)
      if (!again) beginnings.delete(name)
      return { task: name, removed: 0, finished: false, next: again ? 0 : RETRY_S, ...(!again && { error }) }
    }
  }

  /** Undefined when nothing is due. */
  async function portion(of: readonly Task[], early: boolean): Promise<Portion | undefined> {
    const [taken] = await db.execute(statements.take, { names: of.map(({ name }) => name), early })
    if (!taken) return undefined
    const { finishedAt, ...leased } = taken
    const { next, ...done } = await work(of.find(({ name }) => name === taken.name)!, finishedAt)
    const { removed: rows, finished } = done
    await db.execute(statements.putBack, { ...leased, pause: next, removed: rows, finished })
    if (done.removed > 0) removed(done.task, done.removed)
    if (done.error !== undefined) failed?.(done.task, done.error)
    return done
  }

  return {
    /**
     * Runs due tasks until none is left, or `signal` aborts: those of each minute, and of others the two that have been due for the
     * longest time, with two more for each minute that it takes. Tasks with much to do alternate.
     */
    async sweep(signal?: AbortSignal): Promise<void> {
      await register()
      const begin = now()
      const begun = new Set(tasks.filter(({ every }) => every <= MINUTE_S).map(({ name }) => name))
      const everyMinute = begun.size
      while (!signal?.aborted) {
        const minutes = 1 + Math.floor((now() - begin) / (1_000 * MINUTE_S))
        const mayBegin = begun.size - everyMinute < BEGUN_A_MINUTE * minutes
        const done = await portion(mayBegin ? tasks : tasks.filter(({ name }) => begun.has(name)), false)
        if (!done) break
        begun.add(done.task)
      }
    },

    /**
     * Runs every task now, due or not, until nothing is left, and returns the number of rows per task. After a failed step it goes on
     * with the next task, or throws where nobody listens (`failed`).
     */
    async clean(): Promise<Map<string, number>> {
      await register()
      const rows = new Map(tasks.map(({ name }) => [name, 0]))
      for (const task of tasks) {
        for (let ended = false; !ended; ) {
          const done = await portion([task], true)
          if (!done) await pause(LOOK_AGAIN_MS)
          else if (done.error !== undefined && !failed) throw done.error
          else rows.set(task.name, rows.get(task.name)! + done.removed)
          ended = done !== undefined && (done.finished || done.error !== undefined)
        }
      }
      return rows
    },
  }
}

/** The server's time-out, or the driver's if that came first. */
const isTimeout = (error: unknown) => sqlState(error) === '57014' || /timeout/i.test((error as Error).message)
