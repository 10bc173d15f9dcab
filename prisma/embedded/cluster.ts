import { randomBytes } from 'node:crypto'
import { chown, lstat, mkdtemp, readdir, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import { reasonIn, runBinary } from './binaries.ts'
import { readOwn, removeOwnDirectory, writeOwn } from './own-files.ts'

/** `home` holds PostgreSQL's data directory and the files password, port and log. */
export interface Cluster {
  home: string
  data: string
  password: string
  binaries: Binaries
  account: Account | undefined
}

/** Opens the cluster at `home`, and creates it when missing. Throws when its data is of another major version. */
export async function openCluster(home: string, binaries: Binaries, account: Account | undefined): Promise<Cluster> {
  await removeDrafts(home)
  if (!(await lstat(home).catch(() => undefined))) await create(home, binaries, account)
  const data = join(home, 'data')
  const major = (await readOwn({ account }, join(data, 'PG_VERSION'))).trim()
  if (major !== binaries.major) {
    throw new Error(
      `The data in ${home} is from PostgreSQL ${major}, but the embedded server is PostgreSQL ${binaries.major}: ` +
        'move the data with pg_dump and psql, or choose another DATA_DIR.',
    )
  }
  const password = await readOwn({ account }, join(home, 'password'))
  return { home, data, password, binaries, account }
}

/** The last port if it is free, otherwise a new one, which is saved for the next start. */
export async function choosePort(cluster: Cluster): Promise<number> {
  const file = join(cluster.home, 'port')
  const last = Number(await readOwn(cluster, file).catch(() => '0'))
  const port = last && (await freePort(last)) ? last : await freePort(0)
  if (port !== last) await writeOwn(cluster, file, `${port}`)
  return port
}

/** Creates a draft and renames it, so that `home` is complete or missing, and one of several processes wins. */
async function create(home: string, binaries: Binaries, account: Account | undefined): Promise<void> {
  // PostgreSQL's limit is 1024 bytes, including the names that it appends.
  if (Buffer.byteLength(home) > 900) throw new Error(`The data directory ${home} cannot be used: the path is too long.`)
  const draft = await mkdtemp(`${home}-new-${process.pid}-`)
  try {
    const password = join(draft, 'password')
    await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 })
    if (account) for (const path of [password, draft]) await chown(path, account.uid, account.gid)
    const settings = ['-A', 'scram-sha-256', '--pwfile=password', '--locale=C', '-E', 'UTF8', '-U', 'postgres']
    const made = await runBinary(binaries, 'initdb', ['-D', 'data', ...settings], { account, cwd: draft })
    if (made.code !== 0) throw new Error(`Creating a database in ${home} failed: ${reasonIn(made.output)}`)
    await rename(draft, home).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code ?? '')) throw error
    })
  } finally {
    await removeOwnDirectory(draft)
  }
}

/** Removes the drafts of processes that were killed during `create`. */
async function removeDrafts(home: string): Promise<void> {
  const prefix = `${basename(home)}-new-`
  for (const name of await readdir(dirname(home))) {
    if (name.startsWith(prefix) && !isAlive(Number.parseInt(name.slice(prefix.length), 10))) {
      await removeOwnDirectory(join(dirname(home), name))
    }
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function freePort(port: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.on('error', () => resolve(0))
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
