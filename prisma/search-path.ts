import type pg from 'pg'

interface SessionNames {
  /** Quoted. */
  role: string
  database: string
  /** Null without one. */
  schema: string | null
}

/** SQL of the columns of SessionNames; statements find and create tables in this schema. */
export const SESSION_NAMES =
  'quote_ident(current_user) AS role, quote_ident(current_database()) AS database, quote_ident(current_schema()) AS schema'

/** Throws unless the schema is `public`: Prisma's statements name that one, and others name none. */
export function checkSchema({ role, database, schema }: SessionNames): void {
  if (schema === 'public') return
  throw new Error(
    `The tables are in the schema public, but ${schema ?? 'no schema'} is first in the search_path of the role ${role}: ` +
      `run ALTER ROLE ${role} IN DATABASE ${database} SET search_path = public;`,
  )
}

/** The same for a connection. */
export async function checkClientSchema(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<SessionNames>(`SELECT ${SESSION_NAMES}`)
  checkSchema(rows[0]!)
}
