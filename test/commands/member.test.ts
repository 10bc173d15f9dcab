import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { runCommand } from '../../server/commands/program/run-command.ts'
import { direct } from '../support/addresses.ts'
import { ask } from '../support/ask.ts'
import { filledDatabase } from './filled-database.ts'
import { failed, misused, run, succeeded } from './run.ts'
import { addEntries } from './stored-entries.ts'

const member = (args: string[], env: Record<string, string>, input?: { typed: string }) =>
  run(['member', ...args], env, input)

const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' }
const env = filledDatabase()
beforeEach(async () => {
  await ask(env.DATABASE_URL, 'DELETE FROM "StorageEntry"')
  await addEntries(env.DATABASE_URL)
})

const people = () => ask(env.DATABASE_URL, 'SELECT id FROM "Person" ORDER BY 1')
const entries = async () => {
  const rows = await ask(env.DATABASE_URL, 'SELECT owner FROM "StorageEntry" ORDER BY 1')
  return rows.map(({ owner }) => owner)
}
async function directory() {
  const path = await mkdtemp(join(tmpdir(), 'member-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

const report = `  3 private storage entries
  23 bytes in them
  3 memberships
  2 places in groups
  3 competition results
  1 member cards
  1 quiz results
  4 answers in them
  0 completed lessons
  0 consents
  0 sign-in identities
  1 teams
  0 sessions
`

describe('member export', () => {
  it('prints one JSON document', async () => {
    const { code, stdout, stderr } = await member(['export', '--member', 'anna'], env)
    expect([code, stderr]).toEqual([0, ''])
    const { profile, storage, competitionResults } = JSON.parse(stdout)
    expect(profile).toMatchObject({ id: 'anna', firstName: 'Anna' })
    expect(storage.map(({ app, key, value }: Record<string, string>) => [app, key, value])).toEqual([
      ['hobby-app', 'a', '123'],
      ['trainer-app', 'a', '1234567890'],
      ['trainer-app', 'b', '1234567890'],
    ])
    expect(competitionResults).toHaveLength(3)
  })

  it('writes the same to a new file that only its owner can read', async () => {
    const file = join(await directory(), 'anna.json')
    const { code, stdout } = await member(['export', '--member', 'anna', '--out', file], env)
    const text = await readFile(file, 'utf8')
    expect([code, stdout]).toEqual([0, `${file}: ${Buffer.byteLength(text)} bytes\n`])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const printed = (await member(['export', '--member', 'anna'], env)).stdout
    const { exportedAt: _, ...written } = JSON.parse(text)
    expect(JSON.parse(printed)).toMatchObject(written)
  })

  it('prints nothing that acts on a terminal, and the same JSON', async () => {
    const lastName = 'Ben\u001b[2K\u009b1m\u202e'
    const { lastName: former } = (await ask(env.DATABASE_URL, `SELECT "lastName" FROM "Person" WHERE id = 'ben'`))[0]!
    const name = (text: string) => ask(env.DATABASE_URL, `UPDATE "Person" SET "lastName" = '${text}' WHERE id = 'ben'`)
    await name(lastName)
    onTestFinished(async () => void (await name(former)))
    const { stdout } = await member(['export', '--member', 'ben'], env)
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(JSON.parse(stdout).profile).toMatchObject({ id: 'ben', lastName })
  })

  it("reads on a connection of its own, which no reader's pause ends", async () => {
    // Connections through PgBouncer share sessions, also with earlier tests.
    const DATABASE_URL = direct(env.DATABASE_URL)
    const [{ began }] = await ask(DATABASE_URL, 'SELECT now()::text AS began')
    await ask(
      DATABASE_URL,
      `UPDATE "StorageEntry" SET value = to_json(repeat('x', 1000000)) WHERE owner = 'anna' AND key = 'a'`,
    )
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    const io = { stdin: new PassThrough(), stdout, stderr, env: { ...env, DATABASE_URL } }
    const code = runCommand(['member', 'export', '--member', 'anna'], io)
    const sessions = () =>
      ask(
        DATABASE_URL,
        `SELECT count(*)::int AS count, count(*) FILTER (WHERE state = 'idle in transaction')::int AS reading
          FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'member-apps-api'
            AND backend_start > '${began}'`,
      )
    // The pool's, which has filled mailboxes, and the export's.
    await expect.poll(sessions).toEqual([{ count: 2, reading: 1 }])
    stdout.resume()
    expect(await code).toBe(0)
  })

  it('ends quietly when its reader has gone', async () => {
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
    })
    const stderr = new PassThrough()
    const io = { stdin: new PassThrough(), stdout, stderr, env }
    expect(await runCommand(['member', 'export', '--member', 'anna'], io)).toBe(1)
    expect(stderr.read()).toBeNull()
  })

  it('leaves a file that exists as it is', async () => {
    const file = join(await directory(), 'anna.json')
    await writeFile(file, 'mine')
    const { code, stderr } = await member(['export', '--member', 'anna', '--out', file], env)
    expect([code, stderr]).toEqual([1, expect.stringContaining('file already exists')])
    expect(await readFile(file, 'utf8')).toBe('mine')
  })

  it('says that there is no such person, and leaves no file', async () => {
    const path = await directory()
    const missing = failed('Person ghost does not exist.\n')
    expect(await member(['export', '--member', 'ghost', '--out', join(path, 'ghost.json')], env)).toEqual(missing)
    expect(await readdir(path)).toEqual([])
    expect(await member(['export', '--member', 'ghost'], env)).toEqual(missing)
    const hostile = await member(['export', '--member', 'gh\u001b[2Kost'], env)
    expect(hostile).toEqual(failed('Person gh\\u001b[2Kost does not exist.\n'))
  })
})

describe('member erase', () => {
  it('removes the person with --yes, says what, and logs it without the data', async () => {
    const { code, stdout, stderr } = await member(['erase', '--member', 'anna', '--yes'], env)
    expect([code, stdout]).toEqual([
      0,
      `To be removed of anna:\n${report}Removed:\n${report}  0 published events that name them\n`,
    ])
    expect(JSON.parse(stderr)).toMatchObject({
      msg: 'removed',
      repeat: 'member.erase',
      person: 'anna',
      removed: { storageBytes: 23 },
    })
    expect(stderr).not.toMatch(/Berger|1234567890/)
    expect((await people()).map(({ id }) => id)).toEqual(['ben', 'cara', 'dora', 'emil'])
    expect(await entries()).toEqual(['', '', '', 'cara'])
  })

  it('removes the person after their id was typed', async () => {
    const { code, stdout } = await member(['erase', '--member', 'anna'], env, { typed: 'anna\n' })
    expect([code, stdout]).toEqual([0, expect.stringContaining('Type anna to continue: ')])
    expect(await people()).toHaveLength(4)
  })

  it.each([
    ['another id was typed', { typed: 'ben\n' }, 'Nothing was removed.\n'],
    ['the terminal ended', { typed: '' }, 'Nothing was removed.\n'],
    [
      'there is no terminal',
      undefined,
      'Nothing was removed: without a terminal for the confirmation, --yes is required.\n',
    ],
  ])('removes nothing when %s', async (_, input, message) => {
    const { code, stderr } = await member(['erase', '--member', 'anna'], env, input)
    expect([code, stderr]).toEqual([1, message])
    expect(await people()).toHaveLength(5)
    expect(await entries()).toHaveLength(7)
  })

  it('says that there is no such person', async () => {
    expect(await member(['erase', '--member', 'ghost', '--yes'], env)).toEqual(failed('Person ghost does not exist.\n'))
    expect(await people()).toHaveLength(5)
  })
})

it('member requests lists what waits for an answer, and ends what was answered', async () => {
  const none = succeeded('Nobody waits for a copy of their data.\n')
  expect(await member(['requests'], env)).toEqual(none)
  await ask(
    env.DATABASE_URL,
    `INSERT INTO "DataRequest" VALUES ('r1', 'anna', '2026-11-25T09:30:00Z', '2026-12-25T09:30:00Z')`,
  )
  const listed = await member(['requests', '--json'], env)
  const times = { requestedAt: '2026-11-25T09:30:00.000Z', deadline: '2026-12-25T09:30:00.000Z' }
  expect(JSON.parse(listed.stdout)).toEqual([{ id: 'r1', member: 'anna', ...times }])
  expect(await member(['requests'], env)).toEqual(succeeded('r1  anna, until 2026-12-25\n'))
  const unknown = failed('This request for data does not exist.\n')
  expect(await member(['requests', '--answered', 'r2'], env)).toEqual(unknown)
  expect(await member(['requests', '--answered', 'r1'], env)).toEqual(none)
})

it.each([
  [['export'], '--member is required.'],
  [['erase', '--yes'], '--member is required.'],
  [['erase', '--member', ''], "Option '--member <MEMBER>' argument '' is invalid. It is empty."],
  [['erase', '--member', 'anna', '--out', 'x'], "Unknown option '--out'"],
  [['export', '--member', 'anna', '--yes'], "Unknown option '--yes'"],
  [['show', '--member', 'anna'], "Unknown command 'show'"],
])('member %j prints its usage', async (args, message) => {
  expect(await member(args, nowhere)).toEqual(misused(message))
})
