import { createHash } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { Prisma, PrismaClient } from './generated/client.ts'

export type Database = PrismaClient
export type Transaction = Prisma.TransactionClient
export const sql = Prisma.sql

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
    connectionTimeoutMillis: 5_000,
    query_timeout: 10_000,
    statement_timeout: 10_000,
    idle_in_transaction_session_timeout: 30_000,
  })
  pool.on('error', onError)
  return new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator: statementNames(), disposeExternalPool: true }),
    transactionOptions: { maxWait: 5_000, timeout: 10_000 },
  })
}
