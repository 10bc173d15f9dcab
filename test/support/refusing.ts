import type { Database } from '../../prisma/client.ts'

interface Refused {
  event: 'UPDATE' | 'DELETE'
  table: string
  /** As in the WHEN of a trigger. */
  when: string
  /** An SQLSTATE. */
  code?: string
}

/** Meanwhile the database refuses such changes of rows. */
export async function refusing<T>(
  db: Database,
  { event, table, when, code = 'P0001' }: Refused,
  work: () => Promise<T>,
): Promise<T> {
  const name = `refuse_${event}_${table}`.toLowerCase()
  const sql = (text: string) => db.$executeRawUnsafe(text)
  await sql(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE ''refused'' USING ERRCODE = ''${code}''; END'`)
  try {
    await sql(
      `CREATE TRIGGER ${name} BEFORE ${event} ON "${table}" FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION ${name}()`,
    )
    return await work()
  } finally {
    await sql(`DROP FUNCTION ${name} CASCADE`)
  }
}
