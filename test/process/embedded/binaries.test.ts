import { chmod, cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { accountFor } from '../../../prisma/embedded/account.ts'
import { findBinaries, runBinary, usableBinaries } from '../../../prisma/embedded/binaries.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { isRoot, query, started } from './servers.ts'

describe('the embedded binaries', () => {
  it('have their symbolic links when install scripts are off', async () => {
    const directory = await temporaryDirectory()
    const found = await withoutLinks(directory)
    const usable = await usableBinaries(found, undefined, directory)
    expect(usable.native).toBe(found.native)
    const { code } = await runBinary(usable, 'initdb', ['--version'], { account: undefined, cwd: directory })
    expect(code).toBe(0)
  })

  it.skipIf(isRoot)('are copied when the package is read-only (skipped for root, who may write)', async () => {
    const directory = await temporaryDirectory()
    const found = await withoutLinks(directory)
    await chmod(join(found.native, 'lib'), 0o555)
    onTestFinished(() => chmod(join(found.native, 'lib'), 0o755))
    const usable = await usableBinaries(found, undefined, directory)
    expect(usable.native).not.toBe(found.native)
    const { code } = await runBinary(usable, 'initdb', ['--version'], { account: undefined, cwd: directory })
    expect(code).toBe(0)
  })

  it.runIf(isRoot)('are copied when only root can enter the package (skipped unless root)', async () => {
    const directory = await temporaryDirectory()
    const found = await withoutLinks(await temporaryDirectory(0o700))
    const account = await accountFor(`${directory}/none`)
    const usable = await usableBinaries(found, account, directory)
    expect(usable.native).not.toBe(found.native)
    const { code } = await runBinary(usable, 'initdb', ['--version'], { account, cwd: '/' })
    expect(code).toBe(0)
  })
})

describe.runIf(isRoot)('a server for root, in a directory that only root can enter (skipped unless root)', () => {
  it('keeps the data in a directory that the notice names', async () => {
    const directory = await temporaryDirectory(0o700)
    const first = await started(directory)
    onTestFinished(() => rm(join(first.directory, '..'), { recursive: true, force: true }))
    expect(first.directory).toMatch(/^\/var\/tmp\/member-apps-[0-9a-f]{16}\/postgres$/)
    expect(first.notice).toContain(first.directory.replace('/postgres', ''))
    await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS value')
    await first.stop()
    const second = await started(directory)
    expect(await query(second.url, 'SELECT value FROM kept')).toEqual([1])
  })
})

/** The package as it is after an installation without install scripts. */
async function withoutLinks(directory: string): Promise<Awaited<ReturnType<typeof findBinaries>>> {
  const found = await findBinaries()
  const native = join(directory, 'native')
  await cp(found.native, native, { recursive: true, verbatimSymlinks: true })
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'))
  for (const { target } of links) await rm(join(directory, target), { force: true })
  return { ...found, native }
}
