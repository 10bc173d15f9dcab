import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const script = join(import.meta.dirname, '../../.ci/licences.mjs')

/** Checks an installation with one package, as the lock and, if it is installed, its package.json describe it. */
async function check(locked: object, installed?: object, bundled: string[] = []) {
  const directory = await temporaryDirectory()
  const packages = { '': {}, 'node_modules/planted': { version: '1.0.0', ...locked } }
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify({ packages }))
  mkdirSync(join(directory, 'dist'))
  writeFileSync(join(directory, 'dist/third-party.txt'), bundled.map((name) => `\n## ${name} (MIT)\n`).join(''))
  if (installed) {
    mkdirSync(join(directory, 'node_modules/planted'), { recursive: true })
    writeFileSync(join(directory, 'node_modules/planted/package.json'), JSON.stringify(installed))
  }
  const { status, stdout } = spawnSync(process.execPath, [script, directory], { encoding: 'utf8' })
  return [status, stdout.split('\n')[1]]
}

describe('the check of licences', () => {
  it.each([
    ['a copyleft licence', { license: 'GPL-3.0-only' }, undefined, 'GPL-3.0-only'],
    ['no licence', {}, undefined, 'no licence'],
    ['a licence that nobody has looked at', { license: 'MIT AND EPL-2.0' }, undefined, 'MIT AND EPL-2.0'],
    ['another licence than the lock says', { license: 'MIT' }, { license: 'AGPL-3.0-only' }, 'AGPL-3.0-only'],
    [
      'a copyleft licence on another system',
      { license: 'LGPL-3.0', optional: true, os: ['aix'] },
      undefined,
      'LGPL-3.0',
    ],
  ])('fails for a package with %s', async (_what, locked, installed, found) => {
    expect(await check(locked, installed)).toEqual([1, `node_modules/planted@1.0.0: ${found}`])
  })

  it('fails for a development dependency that dist contains', async () => {
    const found = await check({ license: 'GPL-3.0-only', dev: true }, undefined, ['planted@1.0.0'])
    expect(found).toEqual([1, 'node_modules/planted@1.0.0: GPL-3.0-only'])
  })

  it('fails when dist contains another version than the lock names', async () => {
    expect((await check({ license: 'MIT', dev: true }, undefined, ['planted@0.9.0']))[0]).toBe(1)
  })

  it('passes for permissive licences, and for any of development', async () => {
    expect((await check({ license: 'MIT' }, { license: 'MIT' }))[0]).toBe(0)
    const choice = '(BSD-3-Clause OR GPL-2.0)'
    expect((await check({ license: choice }, { license: choice }))[0]).toBe(0)
    expect((await check({ license: 'GPL-3.0-only', dev: true }))[0]).toBe(0)
  })
})
