import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { inTransaction } from '../../prisma/pg/transaction.ts'
import { limitSessions } from '../../prisma/session-limits.ts'

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

async function createDatabase(template: string, atEnd: AtEnd): Promise<string> {
  const server = inject('databaseUrl')
  const name = `${inject('databasePrefix')}_${randomBytes(6).toString('hex')}`
  const settings = [withoutWaiting(name), ...(template === 'template1' ? [] : [noJit(name)])]
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${template}`, ...settings)
  if (template !== 'template1') await limitOwnSessions(withName(server, name))
  // It waits for a checkpoint, for which no test need wait; the end of the run drops what is left.
  if (!inject('isTemporary')) {
    atEnd(async () => {
      administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).catch(() => {})
    })
  }
  return withName(server, name)
}

/**
 * On one connection, which costs as much as a dozen statements. Not within the time of the service's statements: a busy disk
 * takes longer to copy a database.
 */
async function administer(server: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: direct(server), options: '-c statement_timeout=0' })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The same database not through PgBouncer: for sessions of a test's own, and to see who waits for whom. */
export function direct(url: string): string {
  const { TEST_DATABASE_URL: given, TEST_DATABASE_DIRECT_URL: server } = process.env
  if (!given || !server || new URL(url).host !== new URL(given).host) return url
  return withName(server, new URL(url).pathname.slice(1))
}

export const withName = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href

/** No test cuts this server's power: a commit need not wait for its disk. */
const withoutWaiting = (name: string) => `ALTER DATABASE ${name} SET synchronous_commit = off`
export const commitWithoutWaiting = (server: string, name: string) => query(server, withoutWaiting(name))

/** As the first migration does: a copy of a database has no settings of its own. */
const noJit = (name: string) => `ALTER DATABASE ${name} SET jit = off`
export const withoutJit = (server: string, name: string) => query(server, noJit(name))

/** As `migrate` does. */
export async function limitOwnSessions(url: string): Promise<void> {
  const client = new pg.Client(direct(url))
  await client.connect()
  await limitSessions(client).finally(() => client.end())
}

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
export async function query(url: string, sql: string): Promise<any[]> {
  const client = new pg.Client(direct(url))
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
  const client = new pg.Client(database)
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
