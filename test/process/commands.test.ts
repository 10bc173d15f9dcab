import { describe, expect, it } from 'vitest'
import { commandNames } from '../../server/commands/program/run-command.ts'
import { command } from './service.ts'

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

  it('exits 1 with one line when the database does not answer', async () => {
    const { code, stdout, stderr } = await command('client', ['list'], nowhere).ended
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^The database cannot be used: .+\n$/)
  })
})
