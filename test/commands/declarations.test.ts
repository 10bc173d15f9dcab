import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Action } from '../../server/commands/line/command.ts'
import { optionsOf } from '../../server/commands/line/command.ts'
import { commandNames, commandOf } from '../../server/commands/program/run-command.ts'

let declared: { name: string; action: string; declaration: Action }[]
beforeAll(async () => {
  const all = commandNames.map(async (name) => {
    const { actions } = await commandOf(name)
    return Object.entries(actions).map(([action, declaration]) => ({ name, action, declaration }))
  })
  declared = (await Promise.all(all)).flat()
})

describe('the declarations of the commands', () => {
  it('name the fields that docs/commands.md has for --json', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/commands.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `([a-z ]+)` \| `([[{][^`]*)` \|/gm)].map(([, name, json]) => [name, json])
    const printing = declared.flatMap(({ name, action, declaration: { json } }) =>
      json ? [[`${name} ${action}`.trim(), json]] : [],
    )
    expect(rows).toEqual(printing)
  })

  it('say the same of an option in each action of a command, as its help lists it once', () => {
    const said = new Map<string, unknown>()
    for (const { name, declaration } of declared) {
      for (const [option, { type, about }] of Object.entries(declaration.options)) {
        const before = said.get(`${name} ${option}`) ?? { type, about }
        expect([name, option, { type, about }]).toEqual([name, option, before])
        said.set(`${name} ${option}`, before)
      }
    }
  })

  it('have plain words as names and choices, which no script for completion has to quote', () => {
    for (const { name, action, declaration } of declared) {
      const options = Object.entries(optionsOf(declaration))
      const choices = [declaration.words, ...options.map(([, option]) => option)].flatMap((one) => one?.choices ?? [])
      const words = [name, ...(action === '' ? [] : [action]), ...options.map(([option]) => option), ...choices]
      for (const word of words) expect(word).toMatch(/^[\w-]+$/)
    }
  })
})
