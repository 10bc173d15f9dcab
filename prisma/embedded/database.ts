import { createHmac } from 'node:crypto'
import pg from 'pg'

/** The name of the service's database, and of the role that owns it. */
const NAME = 'member_apps'

/**
 * Creates the service's role and database where missing. The role owns the database, reads the server's statistics, and has no
 * other rights: as no superuser, it reaches no files and no programs through SQL. Its password is derived from the superuser's.
 */
export async function createDatabase(superuser: pg.Client, superuserPassword: string) {
  const password = createHmac('sha256', superuserPassword).update(NAME).digest('base64url')
  await createUnless(
    superuser,
    'SELECT FROM pg_roles WHERE rolname = $1',
    `CREATE ROLE ${NAME} LOGIN PASSWORD '${password}'`,
  )
  // A metric reports the age of other sessions' transactions.
  await createUnless(
    superuser,
    "SELECT WHERE pg_has_role($1::name, 'pg_read_all_stats', 'USAGE')",
    `GRANT pg_read_all_stats TO ${NAME}`,
  )
  await createUnless(superuser, 'SELECT FROM pg_database WHERE datname = $1', `CREATE DATABASE ${NAME} OWNER ${NAME}`)
  return { owner: NAME, password, database: NAME }
}

async function createUnless(client: pg.Client, exists: string, create: string): Promise<void> {
  if ((await client.query(exists, [NAME])).rows.length > 0) return
  await client.query(create).catch((error) => {
    // Another process created it first: duplicate_object, duplicate_database, unique_violation.
    if (!(error instanceof pg.DatabaseError && ['42710', '42P04', '23505'].includes(error.code ?? ''))) throw error
  })
}
