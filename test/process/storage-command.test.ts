import { spawn, spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { filledDatabase } from '../commands/filled-database.ts'
import { addEntries } from '../commands/stored-entries.ts'
import type { Ended } from './service.ts'
import { asAnna, command, commandEntry, dataDirectory, postgresOf, start } from './service.ts'

const storage = (args: string[], env: Record<string, string>) => command('storage', args, env).ended
const place = ['--app', 'trainer-app', '--club', 'riverside']

describe('the storage command', () => {
  it('works beside a running service, and starts the database when none runs', async () => {
    const env = { DATA_DIR: await dataDirectory() }
    const service = await start(env)
    const put = (path: string, value: unknown) => asAnna(service, 'PUT', `/storage/c/${path}`, { value })
    await put('k', 1234)
    await put('k?scope=user', 123)
    const usage = async () => (await storage(['usage', ...place], env)).stdout.split('\n')[0]
    expect(await usage()).toBe('trainer-app in riverside: 7 of 10485760 bytes')
    const erased = await storage(['erase', ...place, '--member', 'anna', '--yes'], env)
    expect(erased).toMatchObject({ code: 0, stderr: '' })
    expect((await asAnna(service, 'GET', '/storage/c/k?scope=user')).status).toBe(404)
    expect((await asAnna(service, 'GET', '/storage/c/k')).body).toMatchObject({ value: 1234 })
    expect((await put('other', 12)).headers['x-storage-used']).toBe('6')
    expect(await storage(['erase', ...place, '--yes'], env)).toMatchObject({ code: 0, stderr: '' })
    expect((await asAnna(service, 'GET', '/storage/c')).body).toEqual({ items: [], total: 0 })
    expect((await put('k', 1)).headers['x-storage-used']).toBe('1')
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })

    expect(await postgresOf(env.DATA_DIR)).toBe(0)
    expect(await usage()).toBe('trainer-app in riverside: 1 of 10485760 bytes')
    expect(await postgresOf(env.DATA_DIR)).toBe(0)
  })
})

// util-linux has it; the programs of that name on other systems take other arguments.
const terminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux')

describe.skipIf(!terminal)('storage erase on a terminal', () => {
  const env = filledDatabase()
  const line = [process.execPath, commandEntry, 'storage', 'erase', ...place].map((word) => `'${word}'`).join(' ')

  it('removes nothing on Ctrl-D and Ctrl-C', async () => {
    const stored = await addEntries(env.DATABASE_URL)
    const before = await stored()
    for (const key of ['\x04', '\x03']) {
      const { code, output } = await typed(line, env, key)
      expect(output).toContain('shared: 2 entries, 9 bytes')
      expect(output).toContain('Nothing was removed.')
      expect(code).toBe(1)
    }
    expect(await stored()).toEqual(before)
  })
})

/** Runs a command line on a terminal and types the answer once it is asked for. */
function typed(line: string, env: Record<string, string>, answer: string) {
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  })
  let output = ''
  let isAsked = false
  const read = (chunk: Buffer) => {
    output += chunk
    if (isAsked || !output.includes('Type trainer-app to continue: ')) return
    isAsked = true
    child.stdin.write(answer)
  }
  child.stdin.on('error', () => {}) // it may have ended without asking
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  return new Promise<Pick<Ended, 'code'> & { output: string }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}
