import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandUnknownOpts } from '@commander-js/extra-typings'
import { beforeAll, describe, expect, it } from 'vitest'
import { declaredProgram } from '../../server/commands/program/completion.ts'
import { actionsIn } from '../../server/commands/program/completion-words.ts'

let program: CommandUnknownOpts
beforeAll(async () => {
  program = await declaredProgram()
})

describe('the declarations of the commands', () => {
  it('listen to no signal before a command runs', async () => {
    const count = () => ['SIGTERM', 'SIGINT'].map((signal) => process.listenerCount(signal))
    const before = count()
    // Another instance: the one that the declarations have loaded may be older than this test.
    const another = '../../server/process/run.ts?another'
    await import(another)
    expect(count()).toEqual(before)
  })

  it('name the fields that docs/commands.md has for --json', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/commands.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `([a-z ]+)` \| `([[{][^`]*)` \|/gm)].map(([, name, json]) => [name, json])
    const printing = actionsIn(program).flatMap(({ place, options }) =>
      options
        .filter(({ long }) => long === '--json')
        .map(({ description }) => [place, description.replace(/^.*?: /, '')]),
    )
    expect(rows).toEqual(printing)
  })

  it('say the same of an option in each action of a command', () => {
    const said = new Map<string, unknown>()
    for (const { place, options } of actionsIn(program)) {
      for (const { long, required, description } of options.filter(({ long }) => long !== '--json')) {
        const name = `${place.split(' ')[0]} ${long}`
        const before = said.get(name) ?? { required, description }
        expect([place, long, { required, description }]).toEqual([place, long, before])
        said.set(name, before)
      }
    }
  })

  it('have a line about each action, for the list of them', () => {
    for (const line of program.commands.flatMap(({ commands }) => commands)) {
      expect([line.name(), line.summary()]).toEqual([line.name(), expect.stringMatching(/^[a-z].*[^.]$/)])
    }
  })

  it('have plain words as names and choices, which no script for completion has to quote', () => {
    for (const { place, options, choices } of actionsIn(program)) {
      const all = [...choices, ...options.flatMap((option) => [option.name(), ...(option.argChoices ?? [])])]
      for (const word of [...place.split(' '), ...all]) expect(word).toMatch(/^[\w-]+$/)
    }
  })
})
