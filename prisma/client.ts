import { createHash } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import type { Prisma } from './generated/client.ts'
import { PrismaClient } from './generated/client.ts'
import type { Execute } from './pg/execute.ts'
import { executeOn } from './pg/execute.ts'
import { watchForStalledQueries } from './pg/stalled-query-watchdog.ts'

/** Prisma, and beside it `execute`, on the same pool, for the few statements that answer most requests. */
export type Database = PrismaClient & { execute: Execute }
export type Transaction = Prisma.TransactionClient

/** PostgreSQL itself ends a statement sooner; this is for a server that says nothing any more. */
const SILENT_MS = 5_000

/** Names statements, so that PostgreSQL plans each once a connection; bounded, as lists make texts without end. */
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
 * Opens a database; it connects with the first query. The session's time zone has to be UTC: Prisma's adapter reads and
 * writes timestamps as if it were. A database that hangs is given up after seconds, so that the client gets its 503.
 */
export function openDatabase(url: string, onError: (error: Error) => void): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    options: '-c timezone=UTC',
    application_name: 'member-apps-api',
    connectionTimeoutMillis: 3_000,
    statement_timeout: 5_000,
    idle_in_transaction_session_timeout: 30_000,
  })
  pool.on('error', onError)
  watchForStalledQueries(pool, SILENT_MS)
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator: statementNames() }),
    transactionOptions: { maxWait: 5_000, timeout: 10_000 },
    // Errors go to the log: their names and codes, not the source lines around them.
    errorFormat: 'minimal',
  })
  // Prisma would leave the pool alone where it has not been used itself.
  const disconnect = prisma.$disconnect.bind(prisma)
  let ended: Promise<void> | undefined
  const $disconnect = () => {
    ended ??= disconnect().then(() => pool.end())
    return ended
  }
  return Object.assign(prisma, { execute: executeOn(pool), $disconnect })
}
