import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openDatabase } from '../prisma/client.ts'
import { startEmbedded } from '../prisma/embedded/start.ts'
import { migrate } from '../prisma/migrate.ts'
import { firstPartyScopes, memberScopes } from '../routers/kernel/scopes.ts'
import { developmentKey, mintToken } from '../server/tokens/development.ts'
import { removedAnyway } from './interrupted.ts'
import { createMemberData, createQuiz } from './member-data.ts'
import { createPublishers, PLATFORM } from './publish.ts'
import type { Tenant } from './routes.ts'
import { BARE_TABLES, ENTRIES, FILL_BARE_TABLES, VALUE } from './storage-routes.ts'

/** Each team may send 10,000 requests a minute; the load stays below that with this many. */
const TENANTS = 96

export interface Bench {
  url: string
  dataDir: string
  tenants: Tenant[]
  /** The same member and clients, with tokens for an academy. */
  learners: Tenant[]
  /** The same, with tokens for the provider of the apps. */
  developers: Tenant[]
  /** The platform's own client. */
  platform: Tenant
  remove: () => Promise<void>
}

/** Creates a database with its tenants on the server of TEST_DATABASE_URL or DATABASE_URL, else on an embedded one. */
export async function createBench(): Promise<Bench> {
  const dataDir = await mkdtemp(join(tmpdir(), 'member-apps-bench-'))
  await chmod(dataDir, 0o755)
  const outside = process.env.TEST_DATABASE_URL || process.env.DATABASE_URL
  const embedded = outside ? undefined : await startEmbedded(dataDir)
  const server = new pg.Client(outside ?? embedded!.superuserUrl)
  await server.connect()
  const name = `bench_${randomUUID().replaceAll('-', '')}`
  await server.query(`CREATE DATABASE ${name}`)
  const url = new URL(outside ?? embedded!.superuserUrl)
  url.pathname = `/${name}`
  const remove = removedAnyway(async () => {
    await server.query(`DROP DATABASE ${name} WITH (FORCE)`).finally(() => server.end())
    await embedded?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  try {
    await migrate(url.href)
    return { url: url.href, dataDir, ...(await createTenants(url.href, dataDir)), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function createTenants(
  url: string,
  dataDir: string,
): Promise<Pick<Bench, 'tenants' | 'learners' | 'developers' | 'platform'>> {
  const db = openDatabase(url, () => {})
  const [club, academy, member] = ['club', 'academy', 'member']
  const names = Array.from({ length: TENANTS }, (_, i) => `tenant-${i}`)
  await db.organisation.createMany({
    data: [
      { id: club, kind: 'club', name: 'Club' },
      { id: academy, kind: 'academy', name: 'Academy' },
      { id: 'provider', kind: 'provider', name: 'Provider' },
    ],
  })
  await db.person.create({
    data: { id: member, firstName: 'Mia', lastName: 'Member', email: 'mia@example.org', birthday: new Date(0) },
  })
  await db.membership.createMany({
    data: [club, academy, 'provider'].map((organisationId) => ({ organisationId, personId: member })),
  })
  await createMemberData(db, club, member)
  await createQuiz(db, academy)
  await db.team.createMany({ data: names.map((id) => ({ id, name: id, level: 'developer' })) })
  await db.app.createMany({ data: names.map((id) => ({ id, name: id, teamId: id, providerId: 'provider' })) })
  await db.client.createMany({
    data: names.map((id) => ({ id, name: id, teamId: id, appId: id, environment: 'production' })),
  })
  for (const app of names) {
    await db.$queryRaw`SELECT put.outcome FROM generate_series(0, ${ENTRIES - 1}::int) n,
      storage_put(${app}, ${club}, '', 'bench', 'key-' || n, ${VALUE}, gen_random_uuid(), now(), 10485760, NULL, NULL) put`
  }
  await createPublishers(db, names[0]!)
  await db.$disconnect()
  await runSql(url, BARE_TABLES, FILL_BARE_TABLES, 'ANALYZE')

  const key = await developmentKey(dataDir)
  const scope = memberScopes.join(' ')
  const tokensFor = (organisation: string) =>
    Promise.all(
      names.map(async (app) => {
        const claims = { member, organisation, client: app, scope, expiresInSeconds: 36_000 }
        return { token: await mintToken(key, claims), app, club: organisation, member }
      }),
    )
  const own = { member: null, organisation: 'provider', client: PLATFORM, scope: firstPartyScopes.join(' ') }
  const token = await mintToken(key, { ...own, expiresInSeconds: 36_000 })
  const platform = { token, app: '', club: 'provider', member: '' }
  const [tenants, learners, developers] = await Promise.all([club, academy, 'provider'].map(tokensFor))
  return { tenants: tenants!, learners: learners!, developers: developers!, platform }
}

/** Runs statements one after another on a connection of their own. */
export async function runSql(url: string, ...texts: string[]) {
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC -c statement_timeout=0' })
  await client.connect()
  try {
    for (const text of texts) await client.query(text)
  } finally {
    await client.end()
  }
}
