import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../prisma/client.ts'
import { migrate } from '../../prisma/migrate.ts'
import { seed } from '../../prisma/seed.ts'
import { memberScopesAt } from '../../routers/scopes.ts'
import { times } from '../support/size.ts'
import { freshDatabase, query } from './external.ts'
import type { Ended } from './service.ts'
import { asAnna, dataDirectory, postgresOf, run, start } from './service.ts'

const program = [
  '--import',
  import.meta.resolve('tsx'),
  fileURLToPath(new URL('../../server/commands/storage.ts', import.meta.url)),
]
const storage = (args: string[], env: Record<string, string>) => run([...program, ...args], env).ended

const place = ['--app', 'trainer-app', '--club', 'riverside']
const refused = (stderr: string) => ({ code: 1, signal: null, stdout: '', stderr })

describe('the storage command', { timeout: 120_000 }, () => {
  it('says what an app has stored in a club, and of how much', async () => {
    const { env } = await filled()
    expect(await storage(['usage', ...place], { ...env, STORAGE_QUOTA_BYTES: '1000' })).toEqual({
      code: 0,
      signal: null,
      stdout: `trainer-app in riverside: 39 of 1000 bytes
  shared: 2 entries, 9 bytes
  members' own: 3 entries, 30 bytes, 2 members
`,
      stderr: '',
    })
  })

  it('erases all of it with --yes, and nothing of another app or club', async () => {
    const { env, stored } = await filled()
    expect(await storage(['erase', ...place, '--yes'], env)).toEqual({
      code: 0,
      signal: null,
      stdout: `To be removed of trainer-app in riverside:
  shared: 2 entries, 9 bytes
  members' own: 3 entries, 30 bytes, 2 members
Removed: 5 entries, 39 bytes
`,
      stderr: '',
    })
    const { entries, counters } = await stored()
    expect(entries.map(({ appId, clubId }) => [appId, clubId])).toEqual([
      ['hobby-app', 'riverside'],
      ['trainer-app', 'northgate'],
    ])
    expect(counters).toEqual({ 'hobby-app riverside': 3, 'trainer-app northgate': 4 })
  })

  it("erases a member's own entries alone, also of one who has left", async () => {
    const { env, stored } = await filled()
    const before = await stored()
    expect(await storage(['erase', ...place, '--member', 'cara', '--yes'], env)).toMatchObject({
      code: 0,
      stdout: `To be removed of trainer-app in riverside, cara's alone:
  members' own: 1 entry, 10 bytes, 1 member
Removed: 1 entry, 10 bytes
`,
      stderr: '',
    })
    const { entries, counters } = await stored()
    expect(entries).toEqual(before.entries.filter(({ owner }) => owner !== 'cara'))
    expect(counters).toEqual({ ...before.counters, 'trainer-app riverside': 29 })
  })

  it('does nothing with an app, a club or a member that does not exist, and says which', async () => {
    const { env, stored } = await filled()
    const before = await stored()
    const told = async (args: string[], sentence: string) =>
      expect(await storage(args, env)).toEqual(refused(`${sentence}\n`))
    await Promise.all([
      told(['usage', '--app', 'ghost', '--club', 'riverside'], 'There is no app ghost.'),
      told(['erase', '--app', 'ghost', '--club', 'riverside', '--yes'], 'There is no app ghost.'),
      told(['usage', '--app', 'trainer-app', '--club', 'academy'], 'There is no club academy.'),
      told(['erase', '--app', 'trainer-app', '--club', 'River', '--yes'], 'There is no club River.'),
      told(['erase', ...place, '--member', 'dora', '--yes'], 'There is no member dora in riverside.'),
    ])
    expect(await stored()).toEqual(before)
  })

  it('refuses to erase unasked without a terminal, whatever the pipe says', async () => {
    const { env, stored } = await filled()
    const before = await stored()
    const sentence = 'Nothing was removed: without a terminal nobody can be asked, so --yes is needed.\n'
    expect(await storage(['erase', ...place], env)).toEqual(refused(sentence))
    const piped = await typed([process.execPath, ...program, 'erase', ...place], env, 'trainer-app\n')
    expect(piped).toEqual({ code: 1, output: sentence })
    expect(await stored()).toEqual(before)
  })

  it('says what is wrong with its arguments, before it looks for a database', async () => {
    const wrong: [string[], string][] = [
      [[], 'What to do is one word, usage or erase:'],
      [['wipe', ...place], 'What to do is one word, usage or erase:'],
      [['erase', 'usage', ...place, '--yes'], 'What to do is one word, usage or erase:'],
      [['usage', '--app', 'trainer-app'], '--app and --club are needed:'],
      [['erase', '--club', 'riverside', '--yes'], '--app and --club are needed:'],
      [['erase', '--app', '', '--club', 'riverside', '--yes'], '--app and --club are needed:'],
      [['erase', ...place, '--member', '', '--yes'], '--member is empty:'],
      [['usage', ...place, '--member', 'anna'], '--member and --yes are for erase:'],
      [['erase', ...place, '--member', '--yes'], "Option '--member' argument is ambiguous."],
      [['erase', ...place, '--all'], "Unknown option '--all'"],
    ]
    const check = async ([args, sentence]: [string[], string]) => {
      const ended = await storage(args, { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' })
      expect({ args, ...ended }).toEqual({ args, ...refused(expect.stringContaining(sentence)) })
    }
    await Promise.all(wrong.slice(-times(wrong.length, 4)).map(check))
  })

  it('says that the database is away', async () => {
    const ended = await storage(['erase', ...place, '--yes'], { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' })
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toMatch(/^The database cannot be used: .+\n$/)
  })

  it('works beside a running service, and starts the database of one that does not run', async () => {
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

describe.skipIf(!terminal)('the storage command on a terminal', { timeout: 120_000 }, () => {
  const question = 'Type trainer-app to go on: '
  const line = [process.execPath, ...program, 'erase', ...place].map((word) => `'${word}'`).join(' ')
  const answered = (env: Record<string, string>, answer: string) =>
    typed(['script', '-qec', line, '/dev/null'], env, answer, question)

  it('removes nothing when asked and given another word, nothing, Ctrl-D or Ctrl-C', async () => {
    const { env, stored } = await filled()
    const before = await stored()
    const check = async (answer: string) => {
      const { code, output } = await answered(env, answer)
      expect(output).toContain('shared: 2 entries, 9 bytes')
      expect(output).toContain('Nothing was removed.')
      expect(code).toBe(1)
    }
    await Promise.all(['riverside\r', '\r', '\x04', '\x03'].map(check))
    expect(await stored()).toEqual(before)
  })

  it('removes what it has shown once the name of the app is typed', async () => {
    const { env, stored } = await filled()
    const { code, output } = await answered(env, 'trainer-app\r')
    expect(output).toContain('shared: 2 entries, 9 bytes')
    expect(output).toContain('Removed: 5 entries, 39 bytes')
    expect(code).toBe(0)
    expect((await stored()).counters).toEqual({ 'hobby-app riverside': 3, 'trainer-app northgate': 4 })
  })
})

interface Stored {
  entries: { appId: string; clubId: string; owner: string }[]
  counters: Record<string, number>
}

/** A database with the demo data, and something in the storage of two apps and two clubs. */
async function filled() {
  const env = { DATABASE_URL: await freshDatabase() }
  await migrate(env.DATABASE_URL)
  const db = openDatabase(env.DATABASE_URL, () => {})
  await seed(db, new Date(), memberScopesAt).finally(() => db.$disconnect())
  await query(
    env.DATABASE_URL,
    `INSERT INTO "StorageEntry"
       SELECT app, club, coalesce(member, ''), 'c', key, member, value, gen_random_uuid(), now() FROM (VALUES
         ('trainer-app', 'riverside', NULL, 'a', '"€"'), ('trainer-app', 'riverside', NULL, 'b', '1234'),
         ('trainer-app', 'riverside', 'anna', 'a', '1234567890'), ('trainer-app', 'riverside', 'anna', 'b', '1234567890'),
         ('trainer-app', 'riverside', 'cara', 'a', '1234567890'),
         ('hobby-app', 'riverside', 'anna', 'a', '123'), ('trainer-app', 'northgate', NULL, 'a', '1234')
       ) entry (app, club, member, key, value)`,
  )
  const stored = async (): Promise<Stored> => {
    const entries = await query(env.DATABASE_URL, 'SELECT * FROM "StorageEntry" ORDER BY 1, 2, 3, 4, 5')
    const rows = await query(env.DATABASE_URL, 'SELECT * FROM "StorageUsage" WHERE bytes <> 0')
    return {
      entries,
      counters: Object.fromEntries(rows.map(({ appId, clubId, bytes }) => [`${appId} ${clubId}`, Number(bytes)])),
    }
  }
  return { env, stored }
}

/** Runs it and types the answer: at once, or when the question is there. */
function typed([file, ...args]: string[], env: Record<string, string>, answer: string, question = '') {
  const child = spawn(file!, args, { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } })
  let output = ''
  let asked = false
  const read = (chunk: Buffer | string) => {
    output += chunk
    if (asked || !output.includes(question)) return
    asked = true
    child.stdin.write(answer)
  }
  child.stdin.on('error', () => {}) // it may have ended, unasked
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  if (question === '') read('')
  return new Promise<Pick<Ended, 'code'> & { output: string }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}
