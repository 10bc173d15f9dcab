import { describe, expect, it } from 'vitest'
import { filledDatabase } from './filled-database.ts'
import { misused, run, succeeded } from './run.ts'

const names = ['client', 'keys', 'secrets', 'seed', 'storage', 'studio', 'token']

describe.each(names)('%s', (name) => {
  it.each(['--help', '-h'])('prints its usage with %s, whatever else is asked', async (option) => {
    const help = succeeded(expect.stringMatching(new RegExp(`^Usage:\n  npm run -s ${name}\\b`)))
    expect(await run([name, option], {})).toEqual(help)
    expect(await run([name, 'nonsense', option], { PORT: 'nonsense' })).toEqual(help)
  })
})

describe('the commands', () => {
  it('are listed with --help', async () => {
    const { code, stdout, stderr } = await run(['--help'], {})
    expect([code, stderr]).toEqual([0, ''])
    expect([...stdout.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name)).toEqual(names)
  })

  it.each([
    [[], 'A command is needed.'],
    [['toString'], 'Unknown command: toString.'],
    [['seed', 'twice'], "Unexpected argument 'twice'."],
  ])('exit 2 when the arguments are %j', async (args, message) => {
    expect(await run(args, {})).toEqual(misused(message))
  })

  it('exit 1 when a setting is wrong', async () => {
    const { code, stdout, stderr } = await run(['client', 'list'], { PORT: 'nonsense' })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^These settings cannot be used .*\n {2}PORT: a port number\n$/)
  })
})

describe('seed', () => {
  const env = filledDatabase()

  it('loads the demo data, also a second time', async () => {
    expect(await run(['seed'], env)).toEqual(succeeded('The demo data is loaded.\n'))
  })
})
