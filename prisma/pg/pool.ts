import pg from 'pg'
import type { TimeLimits } from '../time-limits.ts'
import { endsUse } from './ended-sessions.ts'
import { getSocket, onServerError } from './pg-internals.ts'
import { SteadyClient } from './stale-statements.ts'

/**
 * pg's default is 10 s. After a longer pause a burst of requests opens new connections all at once, each of which reads the
 * catalog and plans its statements: p99 of the first six seconds was 91 ms instead of 7 (npm run bench -- tails).
 */
const IDLE_MS = 5 * 60_000

/** TCP's probes of an idle connection: load balancers and firewalls keep it, and one to a server that vanished ends. */
const PROBE_MS = 10_000

/**
 * pg's pool. A connection in use that moves no byte for `stalledMs` is closed: when the server cannot be reached, no
 * statement_timeout ends a query, and its connection would never return. The socket's timer does this: pg's `query_timeout`
 * retains each query's rows for two rounds of garbage collection, a third of the CPU time of a LIST (npm run bench).
 */
export function openPool(config: pg.PoolConfig, { placeMs, stalledMs }: TimeLimits): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    Client: SteadyClient,
    connectionTimeoutMillis: placeMs,
    idleTimeoutMillis: IDLE_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_MS,
  })
  const used = new WeakSet<pg.ClientBase>()
  pool.on('acquire', (client) => used.add(client))
  pool.on('release', (_, client) => used.delete(client))
  pool.on('connect', (client) => {
    const socket = getSocket(client)
    socket.setTimeout(stalledMs)
    // setTimeout's own callback is called once, which may be while the connection is idle.
    socket.on('timeout', () => used.has(client) && socket.destroy(new Error('Query read timeout')))
  })
  // Prisma gives a connection back without the error of its transaction. One that is ending is not used again.
  const unusable = new WeakSet<pg.ClientBase>()
  pool.on('connect', (client) => onServerError(client, (code) => void (endsUse(code) && unusable.add(client))))
  pool.on('release', (_, client) => void (unusable.has(client) && client.end()))
  // The query in flight gets the error too; without a listener, 'error' would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  // Without a listener, an idle connection that breaks would end the process.
  pool.on('error', () => {})
  return pool
}
