import { randomBytes } from 'node:crypto'
import { chown, lstat, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, dirname, join } from 'node:path'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import { reasonIn, runBinary } from './binaries.ts'

/** What a server is started with. `home` holds data (PostgreSQL's own directory), password, port and log. */
export interface Cluster {
  home: string
  data: string
  password: string
  binaries: Binaries
  account: Account | undefined
}

/** Opens the cluster at `home`; makes it when it is missing. */
export async function openCluster(home: string, binaries: Binaries, account: Account | undefined): Promise<Cluster> {
  await sweep(home)
  if (!(await lstat(home).catch(() => undefined))) await create(home, binaries, account)
  const data = join(home, 'data')
  const major = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim()
  if (major !== binaries.major) {
    throw new Error(
      `The data in ${home} is of PostgreSQL ${major}, and the embedded server is PostgreSQL ${binaries.major}: ` +
        'carry it over with pg_dump and psql, or choose another DATA_DIR.',
    )
  }
  const password = await readFile(join(home, 'password'), 'utf8')
  return { home, data, password, binaries, account }
}

/** The port of last time if it is still free, else another one, which is kept. */
export async function choosePort({ home, account }: Cluster): Promise<number> {
  const file = join(home, 'port')
  const kept = Number(await readFile(file, 'utf8').catch(() => '0'))
  const port = kept && (await listenable(kept)) ? kept : await listenable(0)
  if (port !== kept) {
    await writeFile(file, `${port}`)
    if (account) await chown(file, account.uid, account.gid)
  }
  return port
}

/** Made beside its place and then renamed: what stands at `home` is whole, and of two starters one wins. */
async function create(home: string, binaries: Binaries, account: Account | undefined): Promise<void> {
  // PostgreSQL's own limit is 1024 bytes, and it adds names to it.
  if (Buffer.byteLength(home) > 900) throw new Error(`The data directory ${home} cannot be used: the path is too long.`)
  const draft = await mkdtemp(`${home}-new-${process.pid}-`)
  try {
    const password = join(draft, 'password')
    await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 })
    if (account) for (const path of [password, draft]) await chown(path, account.uid, account.gid)
    const settings = ['-A', 'scram-sha-256', '--pwfile=password', '--locale=C', '-E', 'UTF8', '-U', 'postgres']
    const made = await runBinary(binaries, 'initdb', ['-D', 'data', ...settings], { account, cwd: draft })
    if (made.code !== 0) throw new Error(`No database could be made in ${home}: ${reasonIn(made.output)}`)
    await rename(draft, home).catch((error: NodeJS.ErrnoException) => {
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code ?? '')) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Removes what starters left that were killed over `create`. */
async function sweep(home: string): Promise<void> {
  const prefix = `${basename(home)}-new-`
  for (const name of await readdir(dirname(home))) {
    if (name.startsWith(prefix) && !isAlive(Number.parseInt(name.slice(prefix.length), 10))) {
      await rm(join(dirname(home), name), { recursive: true, force: true })
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

/** The port, when one may listen on it (0: on any), else 0. */
function listenable(port: number): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.on('error', () => resolve(0))
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
