import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { unusableParameter } from '../../prisma/address-parameters.ts'
import { startEmbedded } from '../../prisma/embedded/start.ts'
import { migrate } from '../../prisma/migrate.ts'
import { developmentKey } from '../../server/tokens/development.ts'
import type { Tenant } from '../routes/route.ts'
import { TOKEN_ROWS } from '../routes/tokens.ts'
import { pinBesideLoad } from '../servers/process.ts'
import { removedAnyway } from './interrupted.ts'
import { PEOPLE_ROWS } from './people.ts'
import { ROWS } from './rows.ts'
import { mintTokens, signingKeyRow } from './tokens.ts'

export interface Bench {
  url: string
  dataDir: string
  tenants: Tenant[]
  /** The same member and clients, with tokens for an academy. */
  learners: Tenant[]
  /** The same, with tokens for the apps' provider. */
  developers: Tenant[]
  /** The people who sign in, with tokens of the service's own. */
  people: Tenant[]
  remove: () => Promise<void>
}

/** Creates a database with its tenants on the server of TEST_DATABASE_URL or DATABASE_URL, else on an embedded one. */
export async function createBench(): Promise<Bench> {
  const dataDir = await mkdtemp(join(tmpdir(), 'member-apps-bench-'))
  await chmod(dataDir, 0o755)
  const outside = process.env.TEST_DATABASE_URL || process.env.DATABASE_URL
  const unusable = outside && unusableParameter(outside)
  if (unusable) throw new Error(`The database of the benchmark is not ${unusable}.`)
  const embedded = outside ? undefined : await startEmbedded(dataDir)
  const server = outside ?? embedded!.superuserUrl
  if (embedded) pinBesideLoad(await findPostmaster(embedded.superuserUrl))
  const name = `bench_${randomUUID().replaceAll('-', '')}`
  await runSql(server, `CREATE DATABASE ${name}`)
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  const remove = removedAnyway(async () => {
    await runSql(server, `DROP DATABASE ${name} WITH (FORCE)`)
    await embedded?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  try {
    await migrate(url)
    const key = await developmentKey(dataDir)
    await runSql(url, ...ROWS, TOKEN_ROWS, PEOPLE_ROWS, signingKeyRow(key), 'ANALYZE')
    return { url, dataDir, ...(await mintTokens(key)), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The id of the process that starts a server's backends. */
async function findPostmaster(superuserUrl: string): Promise<number> {
  const client = new pg.Client(superuserUrl)
  await client.connect()
  const { rows } = await client.query("SELECT pg_read_file('postmaster.pid') AS file").finally(() => client.end())
  return Number.parseInt(rows[0].file, 10)
}

export async function runSql(url: string, ...texts: string[]) {
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC -c statement_timeout=0' })
  await client.connect()
  try {
    for (const text of texts) await client.query(text)
  } finally {
    await client.end()
  }
}
