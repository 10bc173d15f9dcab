import { createHash } from 'node:crypto'
import type { Prisma, PrismaClient } from './generated/client.ts'
import type { LazyPrisma } from './lazy-prisma.ts'
import { withLazyPrisma } from './lazy-prisma.ts'
import { ConnectionShares } from './pg/connection-shares.ts'
import type { Execute } from './pg/execute.ts'
import { executeOn } from './pg/execute.ts'
import type { PoolObserver } from './pg/observed-pool.ts'
import { observePool } from './pg/observed-pool.ts'
import { parseAddress } from './pg/pg-internals.ts'
import { openPool } from './pg/pool.ts'
import { openReadiness } from './pg/readiness.ts'
import type { InTransaction } from './pg/transaction.ts'
import { inTransactionOn } from './pg/transaction.ts'
import type { TimeLimits } from './time-limits.ts'
import { productionLimits } from './time-limits.ts'

/**
 * Prisma, and on the same pool `execute`, for the busiest requests and what each start does, and `inTransaction` for SQL on one
 * connection.
 */
export type Database = LazyPrisma & {
  execute: Execute
  inTransaction: InTransaction
  /** Its connections, shared among teams. */
  shares: ConnectionShares
  /** Probes within `readyMs` over a separate connection; an answer is cached for 500 ms. */
  isReady: () => Promise<boolean>
}
export type Transaction = Prisma.TransactionClient

export interface PoolOptions {
  max?: number | undefined
  observer?: PoolObserver | undefined
  limits?: TimeLimits | undefined
}

/**
 * Names Prisma's statements, so that each connection plans them once, which saves 0.2 to 0.4 ms of 0.4 to 0.9 each. The number of
 * names is bounded, as `IN` lists produce ever new texts.
 */
function statementNames() {
  const names = new Map<string, string>()
  return ({ sql }: { sql: string }) => {
    let name = names.get(sql)
    if (name === undefined && sql.length <= 4000 && names.size < 256) {
      name = `s${createHash('sha1').update(sql).digest('hex')}`
      names.set(sql, name)
    }
    return name as string
  }
}

/**
 * Opens a database, directly or through PgBouncer; the first query connects, and at most `max` connections are open. `onError`
 * gets the errors of idle connections. Sessions are in UTC, which Prisma's adapter assumes for timestamps. A running statement is
 * ended by statement_timeout (session-limits.ts); when the server is silent, its connection is closed (pg/pool.ts).
 */
export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  { max = 10, observer, limits = productionLimits }: PoolOptions = {},
): Database {
  const config = parseAddress({
    connectionString: url,
    max,
    options: '-c timezone=UTC',
    application_name: 'member-apps-api',
  })
  const pool = openPool(config, limits)
  const readiness = openReadiness(config, limits.readyMs)
  pool.on('error', onError)
  const shares = new ConnectionShares(pool, { places: max, waitMs: limits.placeMs, observer })
  if (observer) observePool(pool, observer, shares)
  let prisma: PrismaClient | undefined
  const loadPrisma = async () => {
    const { PrismaClient } = await import('./generated/client.ts')
    const { PrismaPg } = await import('@prisma/adapter-pg')
    prisma = new PrismaClient({
      adapter: new PrismaPg(pool, { statementNameGenerator: statementNames() }),
      transactionOptions: { maxWait: 2 * limits.placeMs, timeout: limits.transactionMs },
      errorFormat: 'minimal',
    })
    return prisma
  }
  let ended: Promise<void> | undefined
  const own = {
    execute: executeOn(shares),
    inTransaction: inTransactionOn(shares),
    shares,
    isReady: readiness.isReady,
    $disconnect() {
      // Prisma's own never ends a pool that it was given.
      ended ??= Promise.all([readiness.end(), prisma?.$disconnect()]).then(() => pool.end())
      return ended
    },
  }
  return withLazyPrisma(own, loadPrisma)
}
