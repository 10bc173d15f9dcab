import { withConnection } from './pg/transaction.ts'

const CREATE_INDEX = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?"(\w+)"/m

/**
 * Runs a migration's single statement outside a transaction. CONCURRENTLY waits without blocking others, so there is no time
 * limit. An index that a crash left half built is rebuilt.
 */
export async function runAlone(url: string, sql: string, lockTimeout: string): Promise<void> {
  const timeout = /\bCONCURRENTLY\b/i.test(sql) ? '0' : lockTimeout
  await withConnection(url, async (client) => {
    await client.query(`SET statement_timeout = 0; SET lock_timeout = '${timeout}'`)
    const index = CREATE_INDEX.exec(sql)?.[1]
    if (index !== undefined) {
      const { rows } = await client.query(
        `SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
         WHERE relname = $1 AND relnamespace = current_schema()::regnamespace AND NOT indisvalid`,
        [index],
      )
      if (rows.length > 0) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index}"`)
    }
    await client.query(sql)
  })
}
