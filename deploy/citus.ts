import { readFile } from 'node:fs/promises'
import { migrate } from '../prisma/migrate.ts'
import { inTransaction, withConnection } from '../prisma/pg/transaction.ts'

const script = new URL('citus.sql', import.meta.url)

/** The statements of citus.sql one by one, as psql sends them: Citus takes no two in one message. */
export const readCitusScript = async () =>
  (await readFile(script, 'utf8')).split(/(?<=;)\n+(?=(?:--|ALTER|CREATE|DO|DROP|SELECT|SET) )/)

/** Returns the cluster's nodes, the coordinator first, each as an address with the coordinator's user and password. */
export async function listNodes(coordinator: string): Promise<string[]> {
  const nodes = await run(coordinator, 'SELECT nodename AS host, nodeport AS port FROM pg_dist_node ORDER BY groupid')
  return nodes.map(({ host, port }) => Object.assign(new URL(coordinator), { hostname: host, port }).href)
}

/**
 * Creates a migrated database on all nodes of the coordinator's cluster and distributes its tables. `fill` gets its address before
 * that: the script takes a database with rows.
 */
export async function createOnCitus(
  coordinator: string,
  name: string,
  fill: (database: string) => Promise<unknown> = async () => {},
): Promise<void> {
  const nodes = await listNodes(coordinator)
  for (const node of nodes) {
    await run(node, `CREATE DATABASE ${name}`)
    await run(toDatabaseUrl(node, name), 'CREATE EXTENSION citus')
  }
  const database = toDatabaseUrl(coordinator, name)
  const [first, ...workers] = nodes.map((node) => new URL(node))
  await run(database, `SELECT citus_set_coordinator_host('${first!.hostname}', ${first!.port})`)
  for (const { hostname, port } of workers) await run(database, `SELECT citus_add_node('${hostname}', ${port})`)
  await migrate(database)
  await fill(database)
  const statements = await readCitusScript()
  await withConnection(database, async (client) => {
    await client.query('SET statement_timeout = 0')
    await inTransaction(client, async () => {
      for (const statement of statements) await client.query(statement)
    })
  })
}

/** Drops the databases whose names begin with `prefix` on all nodes. */
export async function dropOnCitus(coordinator: string, prefix: string): Promise<void> {
  for (const node of await listNodes(coordinator)) {
    const names = `SELECT datname AS name FROM pg_database WHERE starts_with(datname, '${prefix}')`
    for (const { name } of await run(node, names)) await run(node, `DROP DATABASE ${name} WITH (FORCE)`)
  }
}

/** The same server's database of that name. */
export const toDatabaseUrl = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href

const run = (url: string, sql: string) =>
  withConnection(url, async (client) => {
    await client.query('SET statement_timeout = 0')
    return (await client.query(sql)).rows
  })
