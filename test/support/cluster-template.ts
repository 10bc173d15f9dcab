import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findBinaries } from '../../prisma/embedded/binaries.ts'
import { startEmbedded } from '../../prisma/embedded/start.ts'
import { migrate } from '../../prisma/migrate.ts'
import { seed } from '../../prisma/seed.ts'
import { memberScopesAt } from '../../routers/kernel/scopes.ts'
import { openTestDatabase } from './test-database.ts'

const run = promisify(execFile)
const root = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const cache = root('node_modules/.cache/member-apps-api')

/**
 * Makes a data directory's cluster by copying an initialised one: 0.2 s, where initdb takes 2 s. That one is kept in
 * node_modules, by PostgreSQL's version and the code that creates clusters.
 */
export async function copyCluster(dataDir: string): Promise<void> {
  await copy(await findTemplate(), join(dataDir, 'postgres'))
}

/** Makes a data directory as a service leaves it after its first start, which takes a second of the processor; to be copied. */
export async function createDemoCluster(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-demo-'))
  await chmod(directory, 0o755)
  await copyCluster(directory)
  const server = await startEmbedded(directory)
  await migrate(server.url)
  const db = openTestDatabase(server.url)
  await seed(db, new Date(), memberScopesAt).finally(() => db.$disconnect())
  await server.stop()
  // Copies choose a port each.
  await rm(join(server.directory, 'port'))
  return directory
}

export const copyDemoCluster = (from: string, dataDir: string) =>
  copy(join(from, 'postgres'), join(dataDir, 'postgres'))

async function findTemplate(): Promise<string> {
  const { version } = await findBinaries()
  const code = createHash('sha256')
  for (const file of ['cluster.ts', 'database.ts']) code.update(await readFile(root(`prisma/embedded/${file}`)))
  const template = join(cache, `postgres-${version}-${code.digest('hex').slice(0, 12)}`)
  if (!(await stat(template).catch(() => undefined))) await createTemplate(template)
  return template
}

async function createTemplate(template: string): Promise<void> {
  await mkdir(cache, { recursive: true })
  // PostgreSQL's user can enter it also when the tests are run by root.
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-cluster-'))
  await chmod(directory, 0o755)
  const server = await startEmbedded(directory)
  await server.stop()
  // Copies choose a port each.
  await rm(join(server.directory, 'port'))
  const draft = `${template}.${randomUUID()}`
  await copy(server.directory, draft)
  await rm(directory, { recursive: true, force: true })
  // Another run may have been faster.
  await rename(draft, template).catch(() => rm(draft, { recursive: true, force: true }))
}

/** With owners and modes, which PostgreSQL checks; where the file system can, without copying bytes. */
const copy = (from: string, to: string) => run('cp', ['-Rp', from, to])
