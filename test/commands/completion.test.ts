import { execFileSync } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { declaredProgram } from '../../server/commands/program/completion.ts'
import { actionsIn } from '../../server/commands/program/completion-words.ts'
import { commandNames } from '../../server/commands/program/run-command.ts'
import { run } from './run.ts'

let script: string
beforeAll(async () => {
  const { code, stdout, stderr } = await run(['completion', 'bash'], {})
  expect([code, stderr]).toEqual([0, ''])
  script = stdout
})

/** What bash offers for the last of these words; PATHS where it is to complete paths by itself. */
function offered(...words: string[]): string[] {
  const asking = `
    eval "$SCRIPT"
    compopt() { [ "$*" = '-o default' ] && echo PATHS; }
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    function=$(complete -p member-apps | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
    "$function" member-apps "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
    [ \${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "\${COMPREPLY[@]}"`
  const args = ['--norc', '-uc', asking, 'bash', 'member-apps', ...words]
  const env = { PATH: process.env.PATH, SCRIPT: script }
  return execFileSync('bash', args, { encoding: 'utf8', env }).split('\n').slice(0, -1)
}

describe('completion in bash', () => {
  it.each([
    [['te'], ['team']],
    [['s'], ['start', 'storage', 'secrets', 'seed', 'studio']],
    [
      ['team', ''],
      ['add', 'invite', 'level', 'list', 'requests', 'approve', 'refuse', '--help'],
    ],
    [['team', 'le'], ['level']],
    [
      ['team', 'level', '--'],
      ['--team', '--level', '--json', '--help'],
    ],
    [
      ['team', 'level', '--level', ''],
      ['hobby', 'developer'],
    ],
    [['team', 'level', '--team', 'a', '--level', 'h'], ['hobby']],
    [
      ['team', 'level', '--level', '='],
      ['hobby', 'developer'],
    ],
    [['team', 'level', '--level', '=', 'dev'], ['developer']],
    [['team', 'level', '--team', ''], []],
    [['team', 'nothing', ''], []],
    [['nothing', ''], []],
    [
      ['import', '--kind', 'group'],
      ['groups', 'groupMembers'],
    ],
    [['import', ''], ['PATHS']],
    [['import', '--f'], ['--full']],
    [['import', '--skip-refused', ''], ['PATHS']],
    [['seed', '--y'], ['--yes']],
    [['start', '--p'], ['--port']],
    [['completion', 'ba'], ['bash']],
  ])('offers for %j: %j', (words, expected) => {
    expect(offered(...words)).toEqual(expected)
  })

  it('runs nothing that is typed, and matches no pattern', () => {
    for (const word of ['$(echo te)', '`echo te`', '*', 't*', ';', '[', '-o']) {
      expect(offered(word)).toEqual([])
      expect(offered('team', 'level', '--level', word)).toEqual([])
      expect(offered(word, '--level', '')).toEqual([])
    }
  })

  it('offers all commands, and the actions and options of each', async () => {
    expect(offered('')).toEqual([...commandNames, '--help'])
    for (const { place, options } of actionsIn(await declaredProgram())) {
      const all = [...options.map(({ long }) => long), '--help']
      expect([place, offered(...place.split(' '), '--')]).toEqual([place, all])
    }
  })
})
