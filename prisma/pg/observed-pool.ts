import { AsyncResource } from 'node:async_hooks'
import type pg from 'pg'
import { onServerError, PreparedQuery } from './pg-internals.ts'

/** The message of pg's pool when all connections were in use for too long. */
export const NO_PLACE = 'timeout exceeded when trying to connect'

/** SQLSTATE after statement_timeout or a manual cancellation. */
const QUERY_CANCELED = '57014'

/** The reason of a wait: the connection is being made, or is in use. */
export const CONNECTION = 'connection'

export interface PoolFigures {
  idle: () => number
  busy: () => number
  /** Statements and transactions that wait for a connection. */
  waiting: () => number
}

/** Called at the stages of each statement; must not throw. */
export interface PoolObserver {
  opened: (pool: PoolFigures) => void
  /** `seconds` is the wait for a connection. */
  waited: (seconds: number) => void
  /** `code` is the SQLSTATE of the server's error. */
  failed: (code: string) => void
  /** Called when a statement, or the wait for a connection, timed out. */
  timedOut: () => void
  /** Called when a connection cannot be made, or is lost. */
  unconnected: () => void
  /** Called once when no connection can be made; `back`, once when one can be made again. */
  away?: (cause: Error) => void
  back?: () => void
  /**
   * Called when a statement begins, with its name or, without one, its operation and table; and as CONNECTION when one has to wait
   * for a connection. Returns a callback for the end.
   */
  began?: ((statement: string) => ((error: Error | undefined) => void) | undefined) | undefined
}

/** What pg's pool calls back with; `release` takes an error of a connection that is not to be used again. */
export type Connected = (
  failure: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: unknown) => void,
) => void

/** Observes everything that uses the pool: prepared statements, transactions and Prisma. */
export function observePool(pool: pg.Pool, observer: PoolObserver, shares: { waiting: number }) {
  const { opened, waited, failed, timedOut, unconnected, began } = observer
  opened({
    idle: () => pool.idleCount,
    busy: () => pool.totalCount - pool.idleCount,
    waiting: () => pool.waitingCount + shares.waiting,
  })
  const connect = pool.connect.bind(pool) as { (callback: Connected): void; (): Promise<pg.PoolClient> }

  let isAway = false
  let connectedAt = 0
  const lacking = (failure: Error, start: number) => {
    if (failure.message === NO_PLACE) return timedOut()
    unconnected()
    // An attempt that began before another succeeded says nothing about now.
    if (start < connectedAt) return
    if (!isAway && !pool.ending) observer.away?.(failure)
    isAway = true
  }
  const timed = (callback: Connected): void => {
    const start = performance.now()
    const end = began && pool.idleCount === 0 ? began(CONNECTION) : undefined
    connect((failure, client, release) => {
      end?.(failure)
      waited((performance.now() - start) / 1_000)
      if (failure) lacking(failure, start)
      callback(failure, client, release)
    })
  }
  // The pool calls a waiting caller back in the async context of the one that releases the connection.
  const inContext = (callback: Connected) => timed(began ? (AsyncResource.bind(callback) as Connected) : callback)
  pool.connect = ((callback?: Connected) =>
    callback
      ? inContext(callback)
      : new Promise<pg.PoolClient>((resolve, reject) => {
          timed((failure, client) => (failure ? reject(failure) : resolve(client!)))
        })) as pg.Pool['connect']

  pool.on('connect', (client) => {
    if (isAway) observer.back?.()
    isAway = false
    connectedAt = performance.now()
    onServerError(client, (code) => (code === QUERY_CANCELED ? timedOut() : failed(code)))
    client.on('error', unconnected)
    if (began) traceQueries(client, began)
  })
}

type Query = (...given: unknown[]) => unknown

/** Replaces a client's `query`, in each of its call forms. */
function traceQueries(client: pg.ClientBase, began: NonNullable<PoolObserver['began']>) {
  const query = client.query.bind(client) as Query
  const traced: Query = (...given) => {
    const end = began(readName(given[0]))
    if (!end) return query(...given)
    const [first] = given
    const last = given.length - 1
    if (first instanceof PreparedQuery) given[0] = first.notifying(end)
    else if (typeof given[last] === 'function') given[last] = endingFirst(given[last] as Query, end)
    const result = query(...given)
    if (result instanceof Promise) result.then(() => end(undefined), end)
    else if (typeof given[last] !== 'function' && !(first instanceof PreparedQuery)) end(undefined)
    return result
  }
  client.query = traced as pg.ClientBase['query']
}

const endingFirst =
  (callback: Query, end: (error: Error | undefined) => void): Query =>
  (error, ...more) => {
    end((error as Error | null) ?? undefined)
    return callback(error, ...more)
  }

/** `SELECT … FROM "public"."Event" …` becomes `SELECT Event`. Never includes a value. */
function readName(query: unknown): string {
  if (query instanceof PreparedQuery) return query.statementName
  const text = typeof query === 'string' ? query : (query as { text?: string }).text
  const [operation = 'statement'] = /^\s*[A-Za-z]+/.exec(text ?? '') ?? []
  const [, table] = /\b(?:FROM|INTO|UPDATE|TABLE)\s+(?:"public"\.)?"([A-Za-z]+)"/.exec(text ?? '') ?? []
  return [operation.trim().toUpperCase(), ...(table ? [table] : [])].join(' ')
}
