import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import { toFailure } from '../../routers/kernel/database-errors.ts'
import type { Availability } from './availability.ts'
import type { Attempt } from './results.ts'
import { recordAttempts } from './results.ts'

/** How long attempts are collected: a statement for each would cost more than the delivery. */
const COLLECT_MS = 20
/** Attempts per statement. */
const MAX_BATCH = 100

interface Options {
  db: Database
  now: () => number
  log: Logger
  availability: Availability
  /** Between attempts to write while the database is unavailable. */
  retryMs: number
}

/**
 * Records attempts in batches, and buffers them while the database is unavailable. An attempt whose lease was lost changes
 * nothing.
 */
export function createResultWriter({ db, now, log, availability, retryMs }: Options) {
  const pending: Attempt[] = []
  const callbacks = new Map<Attempt, () => void>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let closed = false

  /** A batch that an available database rejects is written one by one, so that one bad row does not block the others. */
  async function write(attempts: readonly Attempt[]): Promise<void> {
    try {
      const written = new Set(await recordAttempts(db, now(), attempts))
      for (const { id } of attempts) {
        if (!written.has(id)) log.warn({ delivery: id }, 'result dropped: the lease was lost')
      }
    } catch (error) {
      if (toFailure(error).status === 503) throw error
      if (attempts.length > 1) for (const attempt of attempts) await write([attempt])
      else log.error({ delivery: attempts[0]!.id, err: error }, 'result dropped: it cannot be written')
    }
  }

  async function writeBatch() {
    const batch = pending.slice(0, MAX_BATCH)
    await write(batch)
    pending.splice(0, batch.length)
    for (const attempt of batch) {
      callbacks.get(attempt)?.()
      callbacks.delete(attempt)
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    writing ??= writeBatch().finally(() => {
      writing = undefined
    })
    return writing
  }

  function schedule(ms: number) {
    if (closed) return
    timer ??= setTimeout(() => {
      flush().then(
        () => {
          availability.up()
          if (pending.length > 0) schedule(pending.length < MAX_BATCH ? COLLECT_MS : 0)
        },
        (error) => {
          availability.down(error)
          schedule(retryMs)
        },
      )
    }, ms)
  }

  return {
    pending: () => pending.length,
    /** `onWritten` is called once the attempt is written, or dropped. */
    add(attempt: Attempt, onWritten?: () => void) {
      pending.push(attempt)
      if (onWritten) callbacks.set(attempt, onWritten)
      if (!writing) schedule(COLLECT_MS)
    },
    /** Writes pending attempts, without retries: throws when the database is unavailable. */
    async close() {
      closed = true
      while (pending.length > 0) await flush()
    },
  }
}
