import type { Pool, PoolClient } from 'pg'
import { DatabaseError } from 'pg'
import { PreparedQuery } from './prepared-query.ts'
import type { Statement, Text } from './statement.ts'

/** Runs a statement with its parameters, in the order of `$1`, `$2`, …; resolves with its rows. */
export type Execute = <R>(statement: Statement<R>, values: Text[]) => Promise<R[]>

/** After an error that PostgreSQL reports the connection is usable, unless the session has ended. */
const keepsConnection = (error: Error) => error instanceof DatabaseError && !/^(?:57P|08)/.test(error.code ?? '')

/** An execution without a connection. */
interface Waiting {
  statement: Statement
  values: Text[]
  since: number
  resolve: (rows: Text[][]) => void
  reject: (error: Error) => void
}

const CHECK_INTERVAL_MS = 500

/**
 * Runs statements on a pool. Under load a connection goes straight from one execution to the next: to release and acquire
 * it takes longer than to use it, and the pool sets a timer for each waiter. Waiters of the pool itself (Prisma) go first.
 */
export function executeOn(pool: Pool): Execute {
  const { max, connectionTimeoutMillis: timeoutMs = Number.POSITIVE_INFINITY } = pool.options
  const waiting: Waiting[] = []
  let acquired = 0
  let timer: NodeJS.Timeout | undefined

  // The query gets the error too; without a listener, 'error' would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))

  function acquire(execution: Waiting) {
    acquired++
    pool.connect((failure, client, release) => {
      if (!failure) return run(execution, client!, release)
      acquired--
      execution.reject(failure)
      acquireForNext()
    })
  }

  function acquireForNext() {
    const next = waiting.shift()
    if (next) acquire(next)
  }

  function run({ statement, values, resolve, reject }: Waiting, client: PoolClient, release: (error?: Error) => void) {
    const done: PreparedQuery['callback'] = (error, rows) => {
      const next = error || pool.waitingCount > 0 ? undefined : waiting.shift()
      if (next) run(next, client, release)
      else {
        acquired--
        release(error && !keepsConnection(error) ? error : undefined)
        acquireForNext()
      }
      if (error) reject(error)
      else resolve(rows)
    }
    client.query(new PreparedQuery(statement, values, done))
  }

  function rejectLate() {
    const late = performance.now() - timeoutMs
    while (waiting[0] && waiting[0].since <= late) {
      waiting.shift()!.reject(new Error('timeout exceeded when trying to connect'))
    }
    if (waiting.length > 0) return
    clearInterval(timer)
    timer = undefined
  }

  const rowsOf = (statement: Statement, values: Text[]) =>
    new Promise<Text[][]>((resolve, reject) => {
      const execution = { statement, values, since: 0, resolve, reject }
      if (acquired < max) return acquire(execution)
      execution.since = performance.now()
      waiting.push(execution)
      timer ??= setInterval(rejectLate, CHECK_INTERVAL_MS).unref()
    })

  return async (statement, values) => (await rowsOf(statement, values)).map((fields) => statement.decode(fields))
}
