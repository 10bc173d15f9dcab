import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../../server/commands/program/run-command.ts'
import { filledDatabase } from './filled-database.ts'
import { failed, misused, run, succeeded } from './run.ts'
import { addEntries } from './stored-entries.ts'

const storage = (args: string[], env: Record<string, string>) => run(['storage', ...args], env)

const place = ['--app', 'trainer-app', '--club', 'riverside']
const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' }

describe('the storage command', () => {
  const env = filledDatabase()

  it('prints what an app has stored in a club, and its quota', async () => {
    await addEntries(env.DATABASE_URL)
    expect(await storage(['usage', ...place], { ...env, STORAGE_QUOTA_BYTES: '1000' })).toEqual(
      succeeded(`trainer-app in riverside: 39 of 1000 bytes
  shared: 2 entries, 9 bytes
  members' own: 3 entries, 30 bytes, 2 members
`),
    )
  })

  it('erases all entries of an app in a club with --yes, and none of another app or club', async () => {
    const stored = await addEntries(env.DATABASE_URL)
    expect(await storage(['erase', ...place, '--yes'], env)).toEqual(
      succeeded(`To be removed of trainer-app in riverside, all entries:
  shared: 2 entries, 9 bytes
  members' own: 3 entries, 30 bytes, 2 members
Removed: 5 entries, 39 bytes
`),
    )
    const { entries, counters } = await stored()
    expect(entries.map(({ appId, clubId }) => [appId, clubId])).toEqual([
      ['hobby-app', 'riverside'],
      ['trainer-app', 'northgate'],
    ])
    expect(counters).toEqual({ 'hobby-app riverside': 3, 'trainer-app northgate': 4 })
  })

  it("erases only a member's own entries with --member, also of a former member", async () => {
    const stored = await addEntries(env.DATABASE_URL)
    const before = await stored()
    expect(await storage(['erase', ...place, '--member', 'cara', '--yes'], env)).toEqual(
      succeeded(`To be removed of trainer-app in riverside, cara's own entries:
  members' own: 1 entry, 10 bytes, 1 member
Removed: 1 entry, 10 bytes
`),
    )
    const { entries, counters } = await stored()
    expect(entries).toEqual(before.entries.filter(({ owner }) => owner !== 'cara'))
    expect(counters).toEqual({ ...before.counters, 'trainer-app riverside': 29 })
  })

  it('changes nothing when the app, the club or the member does not exist, and names it', async () => {
    const stored = await addEntries(env.DATABASE_URL)
    const before = await stored()
    const cases: [string[], string][] = [
      [['usage', '--app', 'ghost', '--club', 'riverside'], 'App ghost does not exist.\n'],
      [['erase', '--app', 'ghost', '--club', 'riverside', '--yes'], 'App ghost does not exist.\n'],
      [['usage', '--app', 'trainer-app', '--club', 'academy'], 'Club academy does not exist.\n'],
      [['erase', '--app', 'trainer-app', '--club', 'River', '--yes'], 'Club River does not exist.\n'],
      [['erase', ...place, '--member', 'dora', '--yes'], 'Member dora does not exist in riverside.\n'],
    ]
    for (const [args, message] of cases) expect(await storage(args, env)).toEqual(failed(message))
    expect(await stored()).toEqual(before)
  })

  it('refuses to erase without --yes and a terminal, whatever is piped in', async () => {
    const stored = await addEntries(env.DATABASE_URL)
    const before = await stored()
    const refused = failed('Nothing was removed: without a terminal for the confirmation, --yes is required.\n')
    expect(await storage(['erase', ...place], env)).toEqual(refused)
    expect(await run(['storage', 'erase', ...place], env, { piped: 'trainer-app\n' })).toEqual(refused)
    expect(await stored()).toEqual(before)
  })

  it('asks on a terminal for the name of the app', async () => {
    const stored = await addEntries(env.DATABASE_URL)
    const before = await stored()
    for (const typed of ['riverside\n', '\n', '']) {
      const { code, stdout, stderr } = await run(['storage', 'erase', ...place], env, { typed })
      expect([code, stderr]).toEqual([1, 'Nothing was removed.\n'])
      expect(stdout).toContain('shared: 2 entries, 9 bytes')
      expect(stdout).toMatch(/\nType trainer-app to continue: $/)
    }
    expect(await stored()).toEqual(before)

    const { code, stdout } = await run(['storage', 'erase', ...place], env, { typed: 'trainer-app\n' })
    expect(code).toBe(0)
    expect(stdout).toContain('Removed: 5 entries, 39 bytes')
    expect((await stored()).counters).toEqual({ 'hobby-app riverside': 3, 'trainer-app northgate': 4 })
  })

  it('asks on standard error where that alone is a terminal', async () => {
    await addEntries(env.DATABASE_URL)
    const { code, stdout, stderr } = await run(['storage', 'erase', ...place], env, {
      typed: 'trainer-app\n',
      watched: true,
    })
    expect([code, stdout]).toEqual([0, 'Removed: 5 entries, 39 bytes\n'])
    expect(stderr).toMatch(
      /^To be removed of trainer-app in riverside, all entries:\n.*Type trainer-app to continue: /s,
    )
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('removes nothing when %s arrives while it asks', async (signal) => {
    const stored = await addEntries(env.DATABASE_URL)
    const before = await stored()
    const others = process.listeners(signal)
    const stdin = Object.assign(new PassThrough(), { isTTY: true })
    const [stdout, stderr] = [new PassThrough().setEncoding('utf8'), new PassThrough().setEncoding('utf8')]
    let asked = ''
    stdout.on('data', (chunk) => {
      asked += chunk
    })
    const ended = runCommand(['storage', 'erase', ...place], { stdin, stdout, stderr, env })
    await expect.poll(() => asked).toContain('Type trainer-app to continue: ')
    const own = process.listeners(signal).filter((listener) => !others.includes(listener))
    expect(own).toHaveLength(1)
    for (const listener of own) listener(signal)
    expect([await ended, stderr.read()]).toEqual([1, 'Nothing was removed.\n'])
    expect(process.listeners(signal)).toEqual(others)
    expect(await stored()).toEqual(before)
  })
})

describe('wrong arguments of the storage command', () => {
  it.each<[string[], string]>([
    [[], ''],
    [['wipe', ...place], "Unknown command 'wipe'"],
    [['erase', 'usage', ...place, '--yes'], "Too many arguments for 'erase'."],
    [['usage', '--app', 'trainer-app'], '--app and --club are required.'],
    [['erase', '--club', 'riverside', '--yes'], '--app and --club are required.'],
    [
      ['erase', '--app', '', '--club', 'riverside', '--yes'],
      "Option '--app <APP>' argument '' is invalid. It is empty.",
    ],
    [['erase', ...place, '--member', '', '--yes'], "Option '--member <MEMBER>' argument '' is invalid. It is empty."],
    [['usage', ...place, '--member', 'anna'], "Unknown option '--member'"],
    [['usage', ...place, '--yes'], "Unknown option '--yes'"],
    [['erase', ...place, '--member', '--yes'], "Option '--member <MEMBER>' argument '--yes' is invalid."],
    [['erase', ...place, '--all'], "Unknown option '--all'"],
  ])('exit 2 before it looks for a database when they are %j', async (args, message) => {
    expect(await storage(args, nowhere)).toEqual(misused(message))
  })
})
