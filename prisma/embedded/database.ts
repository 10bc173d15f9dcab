import { createHmac } from 'node:crypto'
import pg from 'pg'

/** The name of the service's database and of its owner, the role that the service uses. */
const NAME = 'member_apps'

/**
 * Creates the service's role and its database where missing. The role owns the database and reads the server's statistics,
 * and has no other right: no superuser, so that SQL reaches no file and no program. Its password follows from the
 * superuser's, which does not follow from it.
 */
export async function createDatabase(superuser: pg.Client, superuserPassword: string) {
  const password = createHmac('sha256', superuserPassword).update(NAME).digest('base64url')
  await createUnless(
    superuser,
    'SELECT FROM pg_roles WHERE rolname = $1',
    `CREATE ROLE ${NAME} LOGIN PASSWORD '${password}'`,
  )
  // How old the transactions of others are is a metric.
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
