import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { declaredProgram } from '../../server/commands/program/completion.ts'
import { actionsIn } from '../../server/commands/program/completion-words.ts'
import { groups } from '../../server/commands/program/registry.ts'
import { commandNames } from '../../server/commands/program/run-command.ts'

const docs = join(import.meta.dirname, '../../docs')

/** The pages of docs/README.md for those who run the service, which may have a release and Node without npm. */
const operators = readFileSync(join(docs, 'README.md'), 'utf8')
  .split(/^## /m)
  .filter((part) => /^(?:Connect the platform|Set up the service|Run the service)\n/.test(part))
  .flatMap((part) => [...part.matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, name]) => name!))
const pages = [...operators, 'scaling.md'].map((name) => ({ name, text: readFileSync(join(docs, name), 'utf8') }))

/** Those of a checkout: the trial, and what needs its development dependencies. */
const checkout = ['start', ...Object.keys(groups.Development)]

const program = /\bmember-apps ((?:[a-z]+(?![\w/-])|--)(?:[^`\\\n]|\\\n)*)/g
const codeOf = (text: string) => [...text.matchAll(/^```.*?^```$|`[^`\n]+`/gms)].map(([code]) => code).join('\n')
const commands = pages.flatMap(({ name, text }) =>
  [...codeOf(text).matchAll(program)].map(([, line]) => ({ name, line: line!.replace(/\\\n/g, ' ') })),
)

let actions: ReturnType<typeof actionsIn>
beforeAll(async () => {
  actions = actionsIn(await declaredProgram())
})

describe('a command on a page for operators', () => {
  it('needs no npm', () => {
    const needing = new RegExp(
      `npm (?:run )?(?:-s )?(?:${commandNames.filter((name) => !checkout.includes(name)).join('|')})\\b`,
      'g',
    )
    const found = pages.flatMap(({ name, text }) => [...text.matchAll(needing)].map(([command]) => ({ name, command })))
    expect(found).toEqual([])
  })

  it('is on many of them', () => {
    expect(commands.length).toBeGreaterThan(50)
  })

  it.each(commands)('$name: member-apps $line exists, with its options', ({ line }) => {
    const given = [...line.matchAll(/--([a-z][a-z-]*)/g)].map(([, option]) => option!)
    const [first, second] = line.split(/\s+/)
    if (first === '--help') return
    const places = [`${first}`, ...(second ? [`${first} ${second}`] : [])]
    // A noun alone has the options of all its actions.
    const isNoun = second === undefined && !actions.some(({ place }) => place === first)
    const named = actions.filter(({ place }) => places.includes(place) || (isNoun && place.startsWith(`${first} `)))
    expect(named).not.toEqual([])
    const options = ['help', ...named.flatMap(({ options }) => options.map((option) => option.name()))]
    expect(given.filter((option) => !options.includes(option))).toEqual([])
  })
})
