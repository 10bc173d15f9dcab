import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { inject, onTestFinished } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { inTransaction } from '../../prisma/pg/transaction.ts'
import { limitSessions } from '../../prisma/session-limits.ts'
import type { TimeLimits } from '../../prisma/time-limits.ts'
import { direct, withName } from './addresses.ts'
import { ask } from './ask.ts'
import { pgClient } from './pg-client.ts'

/** Registers what ends a resource: `onTestFinished`, or what a file runs in its `afterAll`. */
export type AtEnd = (end: () => Promise<void>) => void

/** The address of an empty database, dropped after the test. */
export const emptyDatabase = (atEnd: AtEnd = onTestFinished) => createDatabase('template1', atEnd)

/** The address of a migrated database without rows, dropped after the test. */
export const migratedDatabase = (atEnd: AtEnd = onTestFinished) =>
  inject('isCitus') ? distributedDatabase(atEnd) : createDatabase(inject('migratedDatabase'), atEnd)

async function distributedDatabase(atEnd: AtEnd): Promise<string> {
  const server = inject('databaseUrl')
  const name = `${inject('databasePrefix')}_${randomBytes(6).toString('hex')}`
  await createOnCitus(server, name)
  atEnd(() => dropOnCitus(server, name))
  return withName(server, name)
}

/** A migrated database whose sessions have no limits: a copy has none. */
export const unlimitedDatabase = () => createDatabase(inject('migratedDatabase'), onTestFinished, { limited: false })

async function createDatabase(template: string, atEnd: AtEnd, { limited = template !== 'template1' } = {}) {
  const server = inject('databaseUrl')
  const name = `${inject('databasePrefix')}_${randomBytes(6).toString('hex')}`
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  await administer(server, `${withoutWaiting(name)}; ${limited ? settingsOf(template, name) : ''}`)
  // It waits for a checkpoint, for which no test need wait; the end of the run drops what is left.
  if (!inject('isTemporary')) {
    atEnd(async () => {
      administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).catch(() => {})
    })
  }
  return withName(server, name)
}

/** Not within the time of the service's statements: a busy disk takes longer to copy a database. */
function administer(server: string, sql: string): Promise<unknown> {
  const url = new URL(direct(server))
  url.searchParams.set('options', '-c statement_timeout=0')
  return ask(url.href, sql)
}

/** A copy of a database has none of the settings that migrations made, its own and those of roles in it. */
const settingsOf = (template: string, name: string) => `DO $$
  DECLARE one text;
  BEGIN
    FOR one IN
      SELECT format('ALTER %s SET %I = %L',
        CASE WHEN setrole = 0 THEN 'DATABASE ${name}' ELSE format('ROLE %I IN DATABASE ${name}', rolname) END,
        split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1))
      FROM pg_db_role_setting LEFT JOIN pg_roles r ON r.oid = setrole JOIN pg_database d ON d.oid = setdatabase,
        unnest(setconfig) setting WHERE datname = '${template}'
    LOOP EXECUTE one; END LOOP;
  END $$`

/** No test cuts this server's power: a commit need not wait for its disk. */
const withoutWaiting = (name: string) => `ALTER DATABASE ${name} SET synchronous_commit = off`
export const commitWithoutWaiting = (server: string, name: string) => query(server, withoutWaiting(name))

/** As the migration does: a copy of a database has no settings of its own. */
export const withoutJit = (server: string, name: string) => query(server, `ALTER DATABASE ${name} SET jit = off`)

/** As `migrate` does, with other limits. Also in place of those that a migration has set. */
export async function limitOwnSessions(url: string, limits: TimeLimits): Promise<void> {
  const client = pgClient(direct(url))
  await client.connect()
  try {
    await client.query(
      `DO $$ BEGIN EXECUTE format('ALTER ROLE %I IN DATABASE %I RESET ALL', current_user, current_database()); END $$`,
    )
    await limitSessions(client, undefined, limits)
  } finally {
    await client.end()
  }
}

/** Runs SQL of a test, which may take longer than the service's statements; `limited` leaves the session's own limits. */
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
export async function query(url: string, sql: string, { limited = false } = {}): Promise<any[]> {
  const options = limited ? '' : '-c statement_timeout=0'
  const client = pgClient({ connectionString: direct(url), options })
  await client.connect()
  const { rows } = await client.query(sql).finally(() => client.end())
  return rows
}

const script = fileURLToPath(new URL('../../deploy/citus.sql', import.meta.url))

/** The statements of deploy/citus.sql one by one, as psql sends them: Citus takes no two in one message. */
export const readCitusScript = async () =>
  (await readFile(script, 'utf8')).split(/(?<=;)\n+(?=(?:--|ALTER|CREATE|DO|DROP|SELECT|SET) )/)

/** The cluster's nodes, the coordinator first, each as an address with the coordinator's user and password. */
async function nodesOf(coordinator: string): Promise<string[]> {
  const nodes = await query(coordinator, 'SELECT nodename AS host, nodeport AS port FROM pg_dist_node ORDER BY groupid')
  return nodes.map(({ host, port }) => Object.assign(new URL(coordinator), { hostname: host, port }).href)
}

/** Creates a migrated database whose tables are distributed over the nodes of the coordinator's cluster. */
export async function createOnCitus(coordinator: string, name: string): Promise<void> {
  const nodes = await nodesOf(coordinator)
  for (const node of nodes) {
    await query(node, `CREATE DATABASE ${name}`)
    await query(withName(node, name), 'CREATE EXTENSION citus')
  }
  const database = withName(coordinator, name)
  const [first, ...workers] = nodes.map((node) => new URL(node))
  await query(database, `SELECT citus_set_coordinator_host('${first!.hostname}', ${first!.port})`)
  for (const { hostname, port } of workers) await query(database, `SELECT citus_add_node('${hostname}', ${port})`)
  await migrate(database)
  const client = pgClient(database)
  await client.connect()
  const distribute = async () => {
    for (const statement of await readCitusScript()) await client.query(statement)
  }
  await inTransaction(client, distribute).finally(() => client.end())
}

/** Drops the databases whose names begin with `prefix` on all nodes. */
export async function dropOnCitus(coordinator: string, prefix: string): Promise<void> {
  for (const node of await nodesOf(coordinator)) {
    const names = `SELECT datname AS name FROM pg_database WHERE starts_with(datname, '${prefix}')`
    for (const { name } of await query(node, names)) await query(node, `DROP DATABASE ${name} WITH (FORCE)`)
  }
}
