import { createHash } from 'node:crypto'
import { chmod, lstat, mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { accountFor, canEnter } from './account.ts'

export interface Place {
  base: string
  account: Account | undefined
  notice?: string
}

/** `dataDir`; or, if this process is root and PostgreSQL's user cannot enter it, a directory in /var/tmp named after it. */
export async function choosePlace(dataDir: string): Promise<Place> {
  await mkdir(dataDir, { recursive: true })
  const wanted = await realpath(dataDir)
  const account = await accountFor(join(wanted, 'postgres'))
  if (!account || (await canEnter(account, wanted))) return { base: wanted, account }
  const base = join('/var/tmp', `member-apps-${createHash('sha256').update(wanted).digest('hex').slice(0, 16)}`)
  await mkdir(base, { recursive: true })
  const { uid, mode } = await lstat(base)
  // Every user can write to /var/tmp, and the binaries in `base` run on behalf of root.
  if (uid !== 0 || (mode & 0o170_000) !== 0o040_000 || mode & 0o022) {
    throw new Error(`${base} is needed for the embedded PostgreSQL, but belongs to another user: remove it.`)
  }
  await chmod(base, 0o755)
  const notice =
    `PostgreSQL does not run as root, and the user "${account.name}" cannot enter ${wanted}, so the data is in ` +
    `${base}. To keep it elsewhere, set DATA_DIR to a directory that every user can enter.`
  return { base, account: await accountFor(join(base, 'postgres')), notice }
}
