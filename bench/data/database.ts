import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startEmbedded } from '../../prisma/embedded/start.ts'
import { migrate } from '../../prisma/migrate.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { developmentKey, mintToken } from '../../server/tokens/development.ts'
import type { Tenant } from '../routes/route.ts'
import { TOKEN_ROWS } from '../routes/tokens.ts'
import { removedAnyway } from './interrupted.ts'
import { ROWS, TENANTS } from './rows.ts'

export interface Bench {
  url: string
  dataDir: string
  tenants: Tenant[]
  /** The same member and clients, with tokens for an academy. */
  learners: Tenant[]
  /** The same, with tokens for the apps' provider. */
  developers: Tenant[]
  remove: () => Promise<void>
}

/** Creates a database with its tenants on the server of TEST_DATABASE_URL or DATABASE_URL, else on an embedded one. */
export async function createBench(): Promise<Bench> {
  const dataDir = await mkdtemp(join(tmpdir(), 'member-apps-bench-'))
  await chmod(dataDir, 0o755)
  const outside = process.env.TEST_DATABASE_URL || process.env.DATABASE_URL
  const embedded = outside ? undefined : await startEmbedded(dataDir)
  const server = outside ?? embedded!.superuserUrl
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
    await runSql(url, ...ROWS, TOKEN_ROWS, 'ANALYZE')
    return { url, dataDir, ...(await mintTokens(dataDir)), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function mintTokens(dataDir: string) {
  const key = await developmentKey(dataDir)
  const claims = { member: 'member', scope: memberScopes.join(' '), expiresInSeconds: 36_000 }
  const tokensFor = (organisation: string) =>
    Promise.all(
      Array.from({ length: TENANTS }, async (_, i) => {
        const app = `tenant-${i}`
        const token = await mintToken(key, { ...claims, organisation, client: app })
        return { token, app, club: organisation, member: 'member' }
      }),
    )
  const [tenants, learners, developers] = await Promise.all(['club', 'academy', 'provider'].map(tokensFor))
  return { tenants: tenants!, learners: learners!, developers: developers! }
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
