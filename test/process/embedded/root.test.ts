import { lchown, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { accountFor } from '../../../prisma/embedded/account.ts'
import { startEmbedded } from '../../../prisma/embedded/start.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { clusterDirectory, isRoot, query, started } from './servers.ts'

/** A file of root's that the cluster's account can neither read nor write. */
async function secretOfRoot() {
  const file = join(await temporaryDirectory(), 'secret')
  await writeFile(file, 'secret of root', { mode: 0o600 })
  const state = async () => {
    const { uid, gid, mode } = await stat(file)
    return { uid, gid, mode, text: await readFile(file, 'utf8') }
  }
  return { file, state }
}

describe.runIf(isRoot)('a server for root (skipped unless root)', () => {
  it.each(['port', 'log'])('writes nothing through a link that its account has put at %s', async (name) => {
    const directory = await clusterDirectory()
    const { file, state } = await secretOfRoot()
    const before = await state()
    await rm(join(directory, 'postgres', name), { force: true })
    await symlink(file, join(directory, 'postgres', name))
    const server = await startEmbedded(directory).catch((error: Error) => error)
    expect(await state()).toEqual(before)
    if (server instanceof Error) expect(server.message).not.toContain('secret')
    else await server.stop()
  })

  it('leaves every file in its directory to its account', async () => {
    const directory = await temporaryDirectory()
    await (await started(directory)).stop()
    const home = join(directory, 'postgres')
    const account = (await accountFor(home))!
    expect(account.uid).not.toBe(0)
    for (const name of await readdir(home)) expect((await lstat(join(home, name))).uid, name).toBe(account.uid)
  })

  it('does not send the text of another file as its password', async () => {
    const directory = await clusterDirectory()
    const { file } = await secretOfRoot()
    const password = join(directory, 'postgres', 'password')
    await rm(password)
    await symlink(file, password)
    await expect(startEmbedded(directory)).rejects.toThrow('cannot be used: that is a link.')
    await rm(password)
    await writeFile(password, 'secret of root')
    await expect(startEmbedded(directory)).rejects.toThrow(/password is not a file of the user \d+/)
  })

  it('removes the draft of an unfinished first start with what its account has put there', async () => {
    const directory = await temporaryDirectory()
    const { file, state } = await secretOfRoot()
    await (await started(directory)).stop()
    const { uid, gid } = (await accountFor(join(directory, 'postgres')))!
    const draft = join(directory, 'postgres-new-999999999-abcdef')
    await mkdir(join(draft, 'data'), { recursive: true })
    await symlink(join(file, '..'), join(draft, 'data', 'link'))
    for (const path of ['data/link', 'data', '']) await lchown(join(draft, path), uid, gid)
    await started(directory)
    await expect(lstat(draft)).rejects.toThrow('ENOENT')
    expect(await state()).toMatchObject({ text: 'secret of root', uid: 0 })
  })
})

describe("the service's role in an embedded database", () => {
  it('owns the database and is no superuser', async () => {
    const { url } = await started(await clusterDirectory())
    expect(
      await query(
        url,
        `SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, datname
         FROM pg_roles JOIN pg_database ON datdba = pg_roles.oid WHERE rolname = current_user`,
      ),
    ).toEqual(['member_apps', false, false, false, false, false, 'member_apps'])
    await query(url, 'CREATE TABLE own AS SELECT 1 AS value')
    for (const sql of [`COPY (SELECT 1) TO PROGRAM 'true'`, `SELECT pg_read_file('PG_VERSION')`, 'SET ROLE postgres']) {
      await expect(query(url, sql)).rejects.toThrow('permission denied')
    }
  })

  it('is not known by the password of the cluster', async () => {
    const directory = await clusterDirectory()
    const { url } = await started(directory)
    const password = await readFile(join(directory, 'postgres', 'password'), 'utf8')
    expect(new URL(url).password).not.toBe(password)
    const guessed = Object.assign(new URL(url), { username: 'postgres' })
    await expect(query(guessed.href, 'SELECT 1')).rejects.toThrow('password authentication failed')
  })
})
