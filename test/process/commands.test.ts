import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { commandNames } from '../../server/commands/program/run-command.ts'
import { readContent } from '../commands/database-content.ts'
import { filledDatabase } from '../commands/filled-database.ts'
import { run } from '../commands/run.ts'
import { addEntries } from '../commands/stored-entries.ts'
import { direct } from '../support/addresses.ts'
import { emptyDatabase, query } from '../support/databases.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { Ended } from './service.ts'
import { asAnna, command, commandEntry, dataDirectoryWithDemo, findPostgres, start, until } from './service.ts'

const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' }

/** What each of them does is tested in this process: test/commands. */
describe('a compiled command', () => {
  it.each(commandNames)('%s prints its usage alone with --help and exits 0', async (name) => {
    const help = await command(name, ['--help'], {}).ended
    expect(help).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(help.stdout).toMatch(/^Usage: member-apps /)
  })

  it('exits 2 with a wrong argument', async () => {
    const wrong = await command('client', ['--colour', 'red'], nowhere).ended
    expect(wrong).toMatchObject({ code: 2, signal: null, stdout: '' })
    expect(wrong.stderr).toMatch(/^Unknown option '--colour'\n\nUsage: /)
  })

  it.each([
    ['ends quietly when nobody reads its output', 'pipe', 0, /^$/],
    ['says that its output cannot be written', '/dev/full', 1, /^Standard output cannot be written: ENOSPC.*\n$/],
  ] as const)('%s', async (_, output, code, said) => {
    const stdout = output === 'pipe' ? output : openSync(output, 'w')
    const child = spawn(process.execPath, [commandEntry, '--help'], { stdio: ['ignore', stdout, 'pipe'] })
    child.stdout?.destroy()
    let stderr = ''
    child.stderr!.on('data', (chunk) => {
      stderr += chunk
    })
    const [ended] = await once(child, 'close')
    if (typeof stdout === 'number') closeSync(stdout)
    expect([ended, stderr]).toEqual([code, expect.stringMatching(said)])
  })

  it('that exports a member ends without a word when nobody reads its output', async () => {
    const env = { ...process.env, DATA_DIR: await dataDirectoryWithDemo() }
    const args = [commandEntry, 'member', 'export', '--member', 'anna']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    child.stdout.destroy()
    const [[code], said] = await Promise.all([once(child, 'close'), child.stderr.toArray()])
    expect([code, said.join('')]).toEqual([1, ''])
  })

  it('exits 1 with one line when the database does not answer', async () => {
    const { code, stdout, stderr } = await command('client', ['list'], nowhere).ended
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^The database cannot be used: .+\n$/)
  })
})

const storage = (args: string[], env: Record<string, string>) => command('storage', args, env).ended
const place = ['--app', 'trainer-app', '--club', 'riverside']

it('the storage command works beside a running service, and starts the database when none runs', async () => {
  const env = { DATA_DIR: await dataDirectoryWithDemo() }
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

  expect(await findPostgres(env.DATA_DIR)).toBe(0)
  expect(await usage()).toBe('trainer-app in riverside: 1 of 10485760 bytes')
  expect(await findPostgres(env.DATA_DIR)).toBe(0)
})

// util-linux has it; the programs of that name on other systems take other arguments.
const env = filledDatabase()
const terminal = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux')

describe.skipIf(!terminal)('storage erase on a terminal', () => {
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

describe.skipIf(!terminal)('a start on a terminal', () => {
  it('stops its database when the terminal is closed', async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    const line = `'${process.execPath}' '${commandEntry}' start`
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR, PORT: '0', INTERNAL_PORT: '0' },
      cwd: await temporaryDirectory(),
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    // The last line of what a start prints.
    await until(
      async () => output,
      (text) => /\ndata [\s\S]*\r\n\r\n/.test(text),
    )
    expect(await findPostgres(DATA_DIR)).not.toBe(0)
    child.kill('SIGKILL')
    await until(
      () => findPostgres(DATA_DIR),
      (pid) => pid === 0,
    )
    await until(
      () =>
        access(join(DATA_DIR, 'auth-base-url')).then(
          () => true,
          () => false,
        ),
      (exists) => !exists,
    )
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

const execute = promisify(execFile)
const lacks = !process.env.TEST_DATABASE_URL || spawnSync('pg_restore', ['--version']).status !== 0
const skipReason = lacks ? ' (skipped: needs TEST_DATABASE_URL, pg_dump and pg_restore)' : ''

it.skipIf(lacks)(`pg_restore brings back what pg_dump took: rows, numbers, triggers${skipReason}`, async () => {
  const addAudit = (url: string) =>
    query(
      url,
      `INSERT INTO "AuditEntry" ("teamId", action, target, at) VALUES ('builders', 'a', 't', now()) RETURNING id`,
    )
  const usage = (url: string) =>
    query(url, `SELECT bytes FROM "StorageUsage" WHERE "appId" = 'hobby-app' AND "clubId" = 'riverside'`)
  await addEntries(env.DATABASE_URL)
  const [last] = await addAudit(env.DATABASE_URL)
  const before = await readContent(env.DATABASE_URL)
  const [file, DATABASE_URL] = [join(await temporaryDirectory(), 'dump'), await emptyDatabase()]
  await execute('pg_dump', ['--format=custom', `--file=${file}`, direct(env.DATABASE_URL)])
  const restore = () =>
    execute('pg_restore', ['--single-transaction', '--no-owner', `--dbname=${direct(DATABASE_URL)}`, file])
  await restore()
  expect(await readContent(DATABASE_URL)).toEqual(before)
  expect(Object.keys(before)).toEqual(expect.arrayContaining(['AuditEntry', 'MemberCard', 'StorageEntry']))

  expect(await run(['migrate'], { DATABASE_URL })).toMatchObject({ stdout: 'The database is up to date.\n' })
  expect(await query(DATABASE_URL, 'SHOW statement_timeout', { limited: true })).toEqual([{ statement_timeout: '5s' }])
  expect(await addAudit(DATABASE_URL)).toEqual([{ id: String(Number(last!.id) + 1) }])
  expect(await usage(DATABASE_URL)).toEqual([{ bytes: '3' }])
  await query(DATABASE_URL, `UPDATE "StorageEntry" SET value = '"longer"' WHERE "appId" = 'hobby-app'`)
  expect(await usage(DATABASE_URL)).toEqual([{ bytes: '8' }])
  await expect(query(DATABASE_URL, 'UPDATE "StorageUsage" SET bytes = bytes + 1')).rejects.toThrow(
    'The usage of a store',
  )

  const used = await readContent(DATABASE_URL)
  await expect(restore()).rejects.toThrow('already exists')
  expect(await readContent(DATABASE_URL)).toEqual(used)
})
