import { pgClient } from '../support/pg-client.ts'

/** Every row of every table as text, by table, without empty tables. */
export async function readContent(url: string): Promise<Record<string, string[]>> {
  const client = pgClient(url)
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
       AND relname NOT LIKE '\\_%' ORDER BY 1`,
    )
    const content: Record<string, string[]> = {}
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM "${name}" t ORDER BY 1`)
      if (rows.length > 0) content[name] = rows.map(({ row }) => row)
    }
    return content
  } finally {
    await client.end()
  }
}
