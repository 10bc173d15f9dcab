import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandNames } from '../../server/commands/program/run-command.ts'
import { variables } from '../../server/process/config.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')

describe('a setting', () => {
  it('is in .env.example and in a table of docs/settings.md or docs/external-issuer.md', () => {
    const example = [...read('.env.example').matchAll(/^# ?([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(example.sort()).toEqual([...variables].sort())
    const pages = read('docs/settings.md') + read('docs/external-issuer.md')
    const rows = [...pages.matchAll(/^\| ((?:`[^`]+`,? ?)+) \|/gm)].flatMap(([, names]) =>
      [...names!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!.replace('…', 'TOKEN_AUDIENCE')),
    )
    expect(variables.filter((name) => !rows.includes(name))).toEqual([])
  })
})

describe('a command', () => {
  it.each(commandNames)('%s is on docs/commands.md', (name) => {
    expect(read('docs/commands.md')).toMatch(new RegExp(`\`(?:member-apps )?${name}(?: [^\`]+)?\``))
  })
})
