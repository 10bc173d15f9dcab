import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import { failureOf } from '../../routers/database-errors.ts'
import type { Outage } from './availability.ts'
import type { Finished } from './results.ts'
import { finish } from './results.ts'

/** Outcomes are collected for so long, as a statement for each would cost more than the delivery. */
const COLLECT_MS = 20
/** Of one statement. */
const MOST = 100

interface Options {
  db: Database
  now: () => number
  log: Logger
  outage: Outage
  /** How long it waits for a database that is away. */
  pauseMs: number
}

/** Writes outcomes, many at once, and keeps them while the database is away. One that comes too late changes nothing. */
export function createWriteBack({ db, now, log, outage, pauseMs }: Options) {
  const kept: Finished[] = []
  const told = new Map<Finished, () => void>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let closed = false

  /** What the database refuses, and is not away, is a fault of ours: then each has to stand for itself. */
  async function write(outcomes: readonly Finished[]): Promise<void> {
    try {
      const written = new Set(await finish(db, now(), outcomes))
      for (const { id } of outcomes) {
        if (!written.has(id)) log.warn({ delivery: id }, 'no longer held by this worker: its outcome is not written')
      }
    } catch (error) {
      if (failureOf(error).status === 503) throw error
      if (outcomes.length > 1) for (const outcome of outcomes) await write([outcome])
      else log.error({ delivery: outcomes[0]!.id, err: error }, 'the outcome cannot be written')
    }
  }

  async function writeSome() {
    const some = kept.slice(0, MOST)
    await write(some)
    kept.splice(0, some.length)
    for (const outcome of some) {
      told.get(outcome)?.()
      told.delete(outcome)
    }
  }

  /** One after the other, never two at once. */
  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing ??= writeSome().finally(() => {
      writing = undefined
    })
    return writing
  }

  const arm = (ms: number) => {
    if (closed) return
    timer ??= setTimeout(() => {
      flush().then(
        () => {
          outage.passed()
          if (kept.length > 0) arm(kept.length < MOST ? COLLECT_MS : 0)
        },
        (error) => {
          outage.failed(error)
          arm(pauseMs)
        },
      )
    }, ms)
  }

  return {
    /** How many are not written yet. */
    waiting: () => kept.length,
    /** `written` is called once it is. */
    add(outcome: Finished, written?: () => void) {
      kept.push(outcome)
      if (written) told.set(outcome, written)
      if (!writing) arm(COLLECT_MS)
    },
    /** Writes what there is, once: throws when the database is away. */
    async close() {
      closed = true
      while (kept.length > 0) await flush()
    },
  }
}
