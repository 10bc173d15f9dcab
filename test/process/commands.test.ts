import { describe, expect, it } from 'vitest'
import { commandNames } from '../../server/commands/run-command.ts'
import { command, commandEntry, run } from './service.ts'

const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' }

describe('a compiled command', { timeout: 60_000 }, () => {
  it.each(commandNames)(
    '%s prints its usage alone with --help and exits 0, or 2 with a wrong argument',
    async (name) => {
      const help = await command(name, ['--help'], {}).ended
      expect(help).toMatchObject({ code: 0, signal: null, stderr: '' })
      expect(help.stdout).toMatch(/^Usage:\n/)
      if (name === 'studio') return
      const wrong = await command(name, ['--colour', 'red'], nowhere).ended
      expect(wrong).toMatchObject({ code: 2, signal: null, stdout: '' })
      expect(wrong.stderr).toMatch(/^Unknown option '--colour'[\s\S]*\n\nUsage:\n/)
    },
  )

  it('exits 1 with one line when the database does not answer', async () => {
    for (const [name, ...args] of [['seed'], ['client', 'list'], ['migrate'], ['backup', 'none/file']] as const) {
      const { code, stdout, stderr } = await command(name, args, nowhere).ended
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^The database cannot be used: .+\n$/)
    }
  })

  it('exits 2 when the command is unknown', async () => {
    expect(await run([commandEntry, 'wipe'], nowhere).ended).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^Unknown command: wipe\.\n\nUsage:/),
    })
  })
})
