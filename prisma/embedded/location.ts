import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { accountFor, mayEnter } from './account.ts'

export interface Place {
  /** The directory for the data, and for the binaries when these cannot be run where they are. */
  base: string
  account: Account | undefined
  notice?: string
}

/** `dataDir`, or, for a root whose directory the server's user cannot enter, one that belongs to it by name. */
export async function choosePlace(dataDir: string): Promise<Place> {
  await mkdir(dataDir, { recursive: true })
  const wanted = await realpath(dataDir)
  const account = await accountFor(join(wanted, 'postgres'))
  if (!account || (await mayEnter(account, wanted))) return { base: wanted, account }
  const base = join('/var/tmp', `member-apps-${createHash('sha256').update(wanted).digest('hex').slice(0, 16)}`)
  await mkdir(base, { recursive: true })
  const { uid, mode } = await lstat(base)
  // Anybody may write to /var/tmp, and the binaries in it are run for root.
  if (uid !== 0 || (mode & 0o170_000) !== 0o040_000 || mode & 0o022) {
    throw new Error(`${base}, which the embedded PostgreSQL needs, belongs to another user: remove it.`)
  }
  await chmod(base, 0o755)
  const notice =
    `PostgreSQL does not run as root, and the user "${account.name}" cannot enter ${wanted}: ` +
    `the data are in ${base}. To keep them elsewhere, set DATA_DIR to a directory that all may enter.`
  return { base, account: await accountFor(join(base, 'postgres')), notice }
}
