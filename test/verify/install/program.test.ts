import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { asAnna, dataDirectory, launch, start } from '../../process/service.ts'
import { endingAfterAll } from '../at-end.ts'
import { npm, offline } from './npm.ts'

// The program of the package, packed and installed in an empty project, as docs/commands.md says.

const root = join(import.meta.dirname, '../../..')
const execute = promisify(execFile)

const atEnd = endingAfterAll()
let folder: string
let missing = false
beforeAll(async () => {
  folder = await dataDirectory(atEnd)
  await writeFile(join(folder, 'package.json'), '{ "name": "elsewhere", "private": true }')
  await npm(root, 'pack', '--pack-destination', folder)
  const [file] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
  await npm(folder, 'install', '--prefer-offline', `./${file}`).catch((error) => {
    if (!offline.test(error.message)) throw error
    missing = true
  })
})

describe('member-apps in another project', () => {
  it('is found by npx, and lists its commands', async (ctx) => {
    if (missing) return ctx.skip('No registry answers.')
    const { stdout, stderr } = await execute('npx', ['--no-install', 'member-apps', '--help'], { cwd: folder })
    expect([stderr, stdout]).toEqual([
      '',
      expect.stringMatching(/^Usage: member-apps COMMAND [\s\S]*\n {2}start +runs/),
    ])
    const wrong = execute('npx', ['--no-install', 'member-apps', 'strat'], { cwd: folder })
    await expect(wrong).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(/Did you mean start\?/) })
  })

  it('starts the service with a database of its own, a worker, and the commands beside them', async (ctx) => {
    if (missing) return ctx.skip('No registry answers.')
    const env = { DATA_DIR: await dataDirectory() }
    const entry = join(folder, 'node_modules/.bin/member-apps')
    const service = await start(env, { entry, args: ['start'], cwd: folder })
    const worker = await launch(env, { entry, args: ['worker'], cwd: folder })
    await expect.poll(worker.stdout).toContain('the worker delivers')
    const command = async (...args: string[]) =>
      JSON.parse((await execute(entry, [...args, '--json'], { cwd: folder, env: { ...process.env, ...env } })).stdout)
    const { token } = await command('token', '--member', 'anna', '--club', 'riverside', '--client', 'trainer-app')
    expect((await asAnna(service, 'GET', '/me/profile', undefined, token)).body).toMatchObject({ id: 'anna' })
    expect(await command('team', 'list')).toContainEqual(expect.objectContaining({ id: 'builders', owners: ['anna'] }))
    expect(await worker.stop()).toMatchObject({ code: 0 })
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
  })
})
