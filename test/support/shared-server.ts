import { appendFile, chmod, mkdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unusableParameter } from '../../prisma/address-parameters.ts'
import { startEmbedded } from '../../prisma/embedded/start.ts'
import { copyCluster } from './cluster-template.ts'
import { pgClient } from './pg-client.ts'

interface SharedServer {
  url: string
  /** Its databases go with it. */
  isTemporary: boolean
  /** The coordinator of a Citus cluster: databases are made on all of its nodes. */
  isCitus: boolean
  stop(): Promise<void>
}

/**
 * Its data need not survive a crash, and the workers open many connections. Databases are copied in memory: with less of it
 * the copies displace one another.
 */
const settings = `
fsync = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 2GB
checkpoint_timeout = 1h
shared_buffers = 512MB
bgwriter_lru_maxpages = 0
io_method = sync
autovacuum_naptime = 10min
max_connections = 300
`

/**
 * TEST_DATABASE_URL's server, the coordinator of CITUS_URL (docs/scaling.md), or an embedded server. Projects of one run share
 * it: each calls this in the same process, the first starts the server and the last stops it.
 */
export async function startSharedServer(): Promise<SharedServer> {
  const isCitus = Boolean(process.env.CITUS_URL)
  const given = process.env.CITUS_URL || process.env.TEST_DATABASE_URL
  for (const url of [given, process.env.TEST_DATABASE_DIRECT_URL]) {
    const unusable = url && unusableParameter(url)
    if (unusable) throw new Error(`The database of the tests is not ${unusable}.`)
  }
  if (given) return { url: given, isTemporary: false, isCitus, stop: async () => {} }
  const directory = join(tmpdir(), `member-apps-tests-${process.pid}`)
  const isFirst = Boolean(await mkdir(directory, { recursive: true }))
  if (isFirst) {
    // PostgreSQL's user can enter it also when the tests are run by root.
    await chmod(directory, 0o755)
    await copyCluster(directory)
    await appendFile(join(directory, 'postgres', 'data', 'postgresql.auto.conf'), settings)
  }
  const server = await startEmbedded(directory)
  if (isFirst) await hashLess(server.superuserUrl)
  return {
    // Tests create databases and set what only a superuser may.
    url: server.superuserUrl,
    isTemporary: true,
    isCitus,
    async stop() {
      await server.stop()
      const runs = await stat(join(directory, 'postgres', 'data', 'postmaster.pid')).catch(() => undefined)
      if (!runs) await rm(directory, { recursive: true, force: true })
    },
  }
}

/** One round in place of 4,096 for the random password: a connection takes 3 ms of a test's processor in place of 5. */
async function hashLess(url: string): Promise<void> {
  const client = pgClient(url)
  await client.connect()
  try {
    await client.query('SET scram_iterations = 1')
    await client.query(`ALTER ROLE CURRENT_USER PASSWORD ${client.escapeLiteral(new URL(url).password)}`)
  } finally {
    await client.end()
  }
}
