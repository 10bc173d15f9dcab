import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { createOnCitus, dropOnCitus } from '../../deploy/citus.ts'
import { migrate } from '../../prisma/migrate.ts'
import { productionLimits } from '../../prisma/time-limits.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { checkSecretsKey } from '../../server/secrets/keys.ts'
import { direct, withName } from './addresses.ts'
import { createDemoCluster } from './cluster-template.ts'
import { commitWithoutWaiting, limitOwnSessions, query, withoutJit } from './databases.ts'
import { SECRETS_KEY } from './secrets-key.ts'
import { startSharedServer } from './shared-server.ts'
import { openTestDatabase } from './test-database.ts'
import { suiteLimits } from './time-limits.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A migrated database that the files of a project share, each with a tenant of its own. */
    databaseUrl: string
    /** The name of a migrated database without rows on the same server, to be copied. */
    migratedDatabase: string
    /** Starts the names of the databases that tests create; they are dropped after the run. */
    databasePrefix: string
    /** Whether that server is the coordinator of a Citus cluster: its databases cannot be copied. */
    isCitus: boolean
    /** Whether the server, and with it every database, is removed after the run. */
    isTemporary: boolean
    /** A data directory with the demo data, for the project that starts processes. */
    demoCluster: string
    /** What the workers of a project write for one another; removed after the run. */
    runDirectory: string
  }
}

/** Prepares a project's databases on one server: that of TEST_DATABASE_URL, or an embedded one for the run. */
export default async function setup(project: TestProject) {
  const { url: server, isTemporary, isCitus, stop } = await startSharedServer()
  const databasePrefix = `test_${process.pid}_${Date.now().toString(36)}_${project.name}`
  const migratedDatabase = `${databasePrefix}_migrated`
  const databaseUrl = withName(server, databasePrefix)
  const isInProcess = project.name === 'api'
  const demoCluster = project.name === 'process' ? await createDemoCluster() : ''
  const runDirectory = await mkdtemp(join(tmpdir(), 'member-apps-run-'))
  if (isCitus) await createOnCitus(server, databasePrefix)
  else {
    await query(server, `CREATE DATABASE ${migratedDatabase}`)
    await migrate(direct(withName(server, migratedDatabase)))
    // The services of other projects have the limits of production, and warn of longer ones.
    if (isInProcess) await limitOwnSessions(withName(server, migratedDatabase), suiteLimits)
    await query(server, `CREATE DATABASE ${databasePrefix} TEMPLATE ${migratedDatabase}`)
  }
  // PostgreSQL looks for a deadlock once, this long after a wait began: late enough for a busy machine to have made one.
  await query(server, `ALTER DATABASE ${databasePrefix} SET deadlock_timeout = '2s'`)
  await commitWithoutWaiting(server, databasePrefix)
  if (!isCitus) await withoutJit(server, databasePrefix)
  await limitOwnSessions(databaseUrl, isInProcess ? suiteLimits : productionLimits)
  await writeKeyCheck(databaseUrl)
  project.provide('databaseUrl', databaseUrl)
  project.provide('migratedDatabase', migratedDatabase)
  project.provide('databasePrefix', databasePrefix)
  project.provide('isCitus', isCitus)
  project.provide('isTemporary', isTemporary)
  project.provide('demoCluster', demoCluster)
  project.provide('runDirectory', runDirectory)
  return async () => {
    if (isCitus) await dropOnCitus(server, databasePrefix)
    else if (!isTemporary) await dropDatabases(server, databasePrefix)
    await stop()
    await rm(runDirectory, { recursive: true })
    if (demoCluster) await rm(demoCluster, { recursive: true })
  }
}

/** The last database that a test created may be being dropped at this moment. */
async function dropDatabases(server: string, prefix: string) {
  const names = `SELECT datname AS name FROM pg_database WHERE starts_with(datname, '${prefix}')`
  for (const { name } of await query(server, names)) await query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

/** Tests leave secrets of many keys in the shared database: without its check, a service would find its own key wrong. */
async function writeKeyCheck(url: string) {
  const db = openTestDatabase(url)
  const cipher = createCipher([Buffer.from(SECRETS_KEY, 'base64')])
  await checkSecretsKey(db, cipher).finally(() => db.$disconnect())
}
