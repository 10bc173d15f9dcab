import { constants } from 'node:fs'
import { lstat, open, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import type { Account } from './account.ts'
import { run } from './account.ts'

/**
 * The cluster's directories belong to the account, which can put links there. Root therefore reads only files that the account
 * owns, and writes and removes as the account, so that it reaches no file that the account cannot.
 */
export interface Owner {
  account: Account | undefined
}

/** Throws as `readFile` does, and for a link or a file of another user. */
export async function readOwn({ account }: Owner, path: string): Promise<string> {
  if (!account) return readFile(path, 'utf8')
  // A FIFO would block without O_NONBLOCK.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.uid !== account.uid) throw new Error(`${path} is not a file of the ${account.name}.`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

export async function writeOwn({ account }: Owner, path: string, text: string): Promise<void> {
  if (!account) return writeFile(path, text)
  await shell(account, 'rm -f -- "$1" && printf %s "$2" > "$1"', path, text)
}

export async function removeOwn({ account }: Owner, path: string): Promise<void> {
  if (!account) return rm(path, { force: true })
  await shell(account, 'rm -f -- "$1"', path)
}

/** The directory's parent belongs to this process. */
export async function removeOwnDirectory(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined)
  const isForeign = process.getuid?.() === 0 && stats !== undefined && stats.uid !== 0
  if (!isForeign) return rm(path, { recursive: true, force: true })
  if (!stats.isDirectory()) return rm(path, { force: true })
  const account = { name: `user ${stats.uid}`, uid: stats.uid, gid: stats.gid }
  // The account cannot remove the directory itself.
  await run('/bin/rm', ['-rf', '--', path], { account, cwd: '/' })
  await rmdir(path)
}

async function shell(account: Account, script: string, ...args: string[]): Promise<void> {
  const { code, output } = await run('/bin/sh', ['-c', script, 'sh', ...args], { account, cwd: '/' })
  if (code !== 0) throw new Error(`The ${account.name} cannot change ${args[0]}: ${output.trim()}`)
}
