import { appendFile, chown, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { accountFor } from '../../../prisma/embedded/account.ts'
import { openStore } from '../../../server/process/store.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { clusterDirectory, query, readPid, started, startedElsewhere, usedDirectory } from './servers.ts'

describe('after a kill -9', () => {
  it('of PostgreSQL, the service restarts it', async () => {
    const directory = await clusterDirectory()
    const { url } = await started(directory)
    await query(url, 'CREATE TABLE kept AS SELECT 1 AS value')
    process.kill(await readPid(directory), 'SIGKILL')
    await expect.poll(() => query(url, 'SELECT value FROM kept').catch(() => [])).toEqual([1])
  })

  it('of PostgreSQL, a service that cannot restart it says why once, and restarts it when the cause is gone', async () => {
    const { url, said, attempts, mend } = await unableToRestart()
    await expect.poll(attempts).toBeGreaterThan(2)
    expect(said).toEqual([expect.stringMatching(/^The embedded PostgreSQL in .* does not start: .*configuration file/)])
    await mend()
    await expect.poll(() => query(url, 'SELECT value FROM kept').catch(() => [])).toEqual([1])
    expect(said).toHaveLength(1)
  })

  it('of PostgreSQL, a service that cannot restart it stops at close, and leaves it stopped', async () => {
    const { directory, close, mend } = await unableToRestart()
    await close()
    await mend()
    await (await started(directory)).stop()
    expect(await readPid(directory)).toBe(0)
  })

  it('of both, the next start recovers the data', async () => {
    const directory = await clusterDirectory()
    const killed = await startedElsewhere(directory)
    await query(killed.url, 'CREATE TABLE kept AS SELECT 1 AS value')
    await killed.kill()
    process.kill(await readPid(directory), 'SIGKILL')
    const next = await started(directory)
    expect(await query(next.url, 'SELECT value FROM kept')).toEqual([1])
  })

  it.runIf(process.platform === 'linux')('starts although another program has the old pid', async () => {
    const directory = await usedDirectory()
    await writePidFile(directory, `${process.pid}\n${directory}/postgres/data\n1\n1\n\n127.0.0.1\n1 1\nready\n`)
    const next = await started(directory)
    expect(await query(next.url, 'SELECT 1')).toEqual([1])
  })

  it.runIf(process.platform === 'linux')('starts although another PostgreSQL server has the old pid', async () => {
    const directory = await usedDirectory()
    const other = await temporaryDirectory()
    await started(other)
    await writePidFile(
      directory,
      `${await readPid(other)}\n${directory}/postgres/data\n1\n1\n\n127.0.0.1\n1 1\nready\n`,
    )
    const next = await started(directory)
    expect(await query(next.superuserUrl, 'SHOW data_directory')).toEqual([join(directory, 'postgres', 'data')])
  })

  it('starts although a power failure left an empty pid file', async () => {
    const directory = await usedDirectory()
    await writePidFile(directory, '')
    const next = await started(directory)
    expect(await query(next.url, 'SELECT 1')).toEqual([1])
  })

  it('removes the draft of an unfinished first start', async () => {
    const directory = await temporaryDirectory()
    const left = join(directory, 'postgres-new-999999999-abcdef')
    await mkdir(left)
    await started(directory)
    await expect(stat(left)).rejects.toThrow('ENOENT')
  })
})

it('a copy of the data directory gets its own server with its data even while the original is in use', async () => {
  const [directory, copy] = [await clusterDirectory(), await temporaryDirectory()]
  const original = await started(directory)
  await query(original.url, 'CREATE TABLE kept AS SELECT 1 AS value')
  await query(original.superuserUrl, 'CHECKPOINT')
  await cp(join(directory, 'postgres'), join(copy, 'postgres'), { recursive: true })
  const account = await accountFor(join(directory, 'postgres'))
  if (account) await chownAll(join(copy, 'postgres'), account.uid, account.gid)
  const second = await started(copy)
  expect(await query(second.superuserUrl, 'SHOW data_directory')).toEqual([join(copy, 'postgres', 'data')])
  expect(await query(original.superuserUrl, 'SHOW data_directory')).toEqual([join(directory, 'postgres', 'data')])
  await query(original.url, 'DROP TABLE kept')
  expect(await query(second.url, 'SELECT value FROM kept')).toEqual([1])
})

/** A store whose server was killed, and cannot start for its configuration; a first attempt has failed. */
async function unableToRestart() {
  const directory = await clusterDirectory()
  const said: string[] = []
  const settings = { databaseUrl: undefined, databaseDirectUrl: undefined, databasePoolMax: undefined }
  const store = await openStore({ ...settings, dataDir: directory, migrateOnStart: true }, () => {}, {
    warn: (sentence) => said.push(sentence),
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= store.close())
  onTestFinished(close)
  await query(store.url, 'CREATE TABLE kept AS SELECT 1 AS value')
  const configuration = join(directory, 'postgres', 'data', 'postgresql.conf')
  const before = await readFile(configuration)
  await appendFile(configuration, 'no setting\n')
  process.kill(await readPid(directory), 'SIGKILL')
  await expect.poll(() => said.length).toBe(1)
  return {
    directory,
    url: store.url,
    said,
    attempts: async () =>
      (await readFile(join(directory, 'postgres', 'log'), 'utf8')).split('contains errors').length - 1,
    mend: () => writeFile(configuration, before),
    close,
  }
}

/** As a server leaves it. */
async function writePidFile(directory: string, text: string): Promise<void> {
  const file = join(directory, 'postgres', 'data', 'postmaster.pid')
  await writeFile(file, text)
  const account = await accountFor(join(directory, 'postgres'))
  if (account) await chown(file, account.uid, account.gid)
}

async function chownAll(directory: string, uid: number, gid: number): Promise<void> {
  await chown(directory, uid, gid)
  for (const name of await readdir(directory, { recursive: true })) await chown(join(directory, name), uid, gid)
}
