import pg from 'pg'
import { direct } from './databases.ts'

/**
 * Remembers the rows of all tables, and returns what puts them back: 10 ms, where another database takes 70. Triggers and
 * foreign keys are not asked.
 */
export async function keepRows(url: string): Promise<() => Promise<void>> {
  const kept = await onConnection(url, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    )
    const kept: { name: string; rows: string | null }[] = []
    for (const { name } of tables) {
      const { rows } = await client.query<{ rows: string | null }>(
        `SELECT json_agg(one)::text AS rows FROM "${name}" one`,
      )
      kept.push({ name, rows: rows[0]!.rows })
    }
    return kept
  })
  const statements = kept.map(({ name, rows }) => {
    const insert = `INSERT INTO "${name}" SELECT * FROM json_populate_recordset(NULL::"${name}", ${pg.escapeLiteral(rows ?? '')});`
    return `DELETE FROM "${name}"; ${rows === null ? '' : insert}`
  })
  // One message is one transaction.
  const sql = ['SET LOCAL session_replication_role = replica;', ...statements].join('\n')
  return () => onConnection(url, async (client) => void (await client.query(sql)))
}

async function onConnection<T>(url: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(direct(url))
  await client.connect()
  return run(client).finally(() => client.end())
}
