import type { LookupAddress } from 'node:dns'
import dns from 'node:dns'
import type { MockInstance } from 'vitest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { commandNames } from '../../server/commands/program/run-command.ts'
import { ask } from '../support/ask.ts'
import { migratedDatabase } from '../support/databases.ts'
import { filledDatabase } from './filled-database.ts'
import { failed, misused, run, succeeded } from './run.ts'

describe.each(commandNames)('%s', (name) => {
  it.each(['--help', '-h'])('prints its usage with %s, whatever else is asked', async (option) => {
    const help = succeeded(expect.stringMatching(new RegExp(`^Usage: member-apps ${name}\\b`)))
    expect(await run([name, option], {})).toEqual(help)
    expect(await run([name, 'nonsense', option], { PORT: 'nonsense' })).toEqual(help)
  })
})

const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' }

describe('the commands', () => {
  // Studio gives its arguments to Prisma's.
  it.each(commandNames.filter((name) => name !== 'studio'))('exit 2 with an unknown option: %s', async (name) => {
    expect(await run([name, '--colour', 'red'], nowhere)).toEqual(misused("Unknown option '--colour'"))
  })

  it.each([['seed'], ['client', 'list'], ['migrate'], ['storage', 'usage', '--app', 'a', '--club', 'c']])(
    'exit 1 with one line when the database does not answer: %s',
    async (...args) => {
      const { code, stdout, stderr } = await run(args, nowhere)
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^The database cannot be used: .+\n$/)
    },
  )

  // Deno's sockets look hosts up by themselves.
  it.skipIf('Deno' in globalThis).each([['client', 'list'], ['migrate']])(
    'exit 1 with the code of the refusal when a database with several addresses refuses: %s',
    async (...args) => {
      type Lookup = (host: string, options: object, done: (error: null, found: LookupAddress[]) => void) => void
      const found = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
      const lookup = vi.spyOn(dns, 'lookup') as unknown as MockInstance<Lookup>
      lookup.mockImplementation((_host, _options, done) => done(null, found))
      onTestFinished(() => lookup.mockRestore())
      const DATABASE_URL = 'postgresql://db.example:1/nothing'
      expect(await run(args, { DATABASE_URL })).toEqual(failed('The database cannot be used: ECONNREFUSED\n'))
    },
  )

  it('are listed with --help', async () => {
    const { code, stdout, stderr } = await run(['--help'], {})
    expect([code, stderr]).toEqual([0, ''])
    expect([...stdout.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name)).toEqual(commandNames)
  })

  it.each([
    [[], ''],
    [['toString'], "Unknown command 'toString'"],
    [['wipe'], "Unknown command 'wipe'"],
    [['memeber'], "Unknown command 'memeber'\n(Did you mean member?)"],
    [['team', 'lst'], "Unknown command 'lst'\n(Did you mean list?)"],
    [['seed', '--yse'], "Unknown option '--yse'\n(Did you mean --yes?)"],
    [['token', '--expires', '60'], "Unknown option '--expires'\n(Did you mean --expires-in?)"],
    [['team', 'add', '--naem', 'A'], "Unknown option '--naem'\n(Did you mean --name?)"],
    [
      ['import', '--kind', 'poeple'],
      "Option '--kind <KIND>' argument 'poeple' is invalid. Allowed choices are organisations, people, ",
    ],
    [
      ['team', 'level', '--team', 'a', '--level', 'hoby'],
      "Option '--level <LEVEL>' argument 'hoby' is invalid. Allowed choices are hobby, developer. Did you mean hobby?",
    ],
    [['seed', 'twice'], "Too many arguments for 'seed'."],
    [['completion'], "Missing required argument 'SHELL'"],
    [
      ['completion', 'csh'],
      "Command-argument value 'csh' is invalid for argument 'SHELL'. Allowed choices are bash, zsh, fish.",
    ],
    [['completion', 'bash', 'bash'], "Too many arguments for 'completion'."],
    [['completion', 'bash', '--json'], "Unknown option '--json'"],
  ])('exit 2 when the arguments are %j', async (args, message) => {
    expect(await run(args, {})).toEqual(misused(message))
  })

  it('exit 1 when a setting that they need is wrong', async () => {
    const { code, stdout, stderr } = await run(['client', 'list'], { PORT: 'nonsense', DATABASE_POOL_MAX: 'ten' })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^These settings cannot be used .*\n {2}DATABASE_POOL_MAX: "ten" is not .*\n$/)
  })
})

describe('seed', () => {
  const env = filledDatabase()

  it('loads the demo data, also a second time', async () => {
    expect(await run(['seed'], env)).toEqual(succeeded('The demo data is loaded.\n'))
  })

  it('loads nothing in production and says that --yes does, with or without a terminal', async () => {
    const env = { DATABASE_URL: await migratedDatabase(), NODE_ENV: 'production' }
    const people = async () => (await ask(env.DATABASE_URL, 'SELECT FROM "Person"')).length
    const refused = failed(
      'Nothing was loaded: NODE_ENV is production, and the demo data contains people. --yes loads it anyway.\n',
    )
    expect(await run(['seed'], env)).toEqual(refused)
    expect(await run(['seed'], env, { typed: 'yes\n' })).toEqual(refused)
    expect(await people()).toBe(0)
    expect(await run(['seed', '--yes'], env)).toEqual(succeeded('The demo data is loaded.\n'))
    expect(await people()).toBeGreaterThan(0)
  })
})
