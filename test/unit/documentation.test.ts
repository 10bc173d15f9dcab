import { readdirSync, readFileSync } from 'node:fs'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { BEGUN_A_MINUTE } from '../../routers/kernel/housekeeping.ts'
import { eventTypes, germanDescriptions } from '../../routers/webhooks/event-types.ts'
import { EVENT_TYPE } from '../../routers/webhooks/rules.ts'
import { declaredProgram } from '../../server/commands/program/completion.ts'
import { actionsIn } from '../../server/commands/program/completion-words.ts'
import { groups } from '../../server/commands/program/registry.ts'
import { commandNames } from '../../server/commands/program/run-command.ts'
import { LongPollSlots } from '../../server/http/long-poll-slots.ts'
import { routes } from '../../server/oauth/engine/routes.ts'
import { variables } from '../../server/process/config.ts'
import { housekeepingTasks } from '../../server/process/housekeeping.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { cascades, page as directoryPage, platformTables, recordsPart } from '../support/directory-page.ts'
import { table } from '../support/markdown-table.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

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

/** The pages of docs/README.md for those who run the service, which may have a release and Node without npm. */
const operators = read('docs/README.md')
  .split(/^## /m)
  .filter((part) => /^(?:Connect the platform|Set up the service|Run the service)\n/.test(part))
  .flatMap((part) => [...part.matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, name]) => name!))
const pages = [...operators, 'scaling.md'].map((name) => ({ name, text: read(`docs/${name}`) }))

/** The commands of a checkout: the trial, and what needs its development dependencies. */
const checkout = ['start', ...Object.keys(groups.Development)]

const program = /\bmember-apps ((?:[a-z]+(?![\w/-])|--)(?:[^`\\\n]|\\\n)*)/g
const renderCode = (text: string) => [...text.matchAll(/^```.*?^```$|`[^`\n]+`/gms)].map(([code]) => code).join('\n')
const commands = pages.flatMap(({ name, text }) =>
  [...renderCode(text).matchAll(program)].map(([, line]) => ({ name, line: line!.replace(/\\\n/g, ' ') })),
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

/** The text between the comments of this name. */
const partName = (name: string) => {
  const [, part] = directoryPage().match(new RegExp(`<!-- ${name}: .*? -->\n+([\\s\\S]*?)\n+<!-- /${name} -->`)) ?? []
  if (part === undefined) throw new Error(`docs/directory.md has no part ${name}.`)
  return part
}

describe('docs/directory.md', () => {
  it('describes the records as routers/directory/record-types.ts has them', () => {
    expect(partName('records').trim()).toBe(recordsPart())
  })

  it('names the tables that others own: all of the platform, and some of operators', () => {
    const rows = table<'Owner' | 'Tables'>(partName('owners'))
    const [platform, operators, ...others] = rows.map(({ Tables }) => Tables.split(', '))
    expect(platform!.toSorted()).toEqual([...platformTables()].toSorted())
    expect([...cascades().keys()].filter((name) => !platform!.includes(name))).toEqual(
      expect.arrayContaining(operators!),
    )
    expect(others).toEqual([['every other table']])
  })
})

it('the table in docs/events.md is the event catalogue', () => {
  const rows = eventTypes.map(
    ({ type, description, example }) => `| \`${type}\` | ${description} | \`${JSON.stringify(example)}\` |\n`,
  )
  expect(read('docs/events.md')).toContain(`| Type | When | Example of \`data\` |\n|---|---|---|\n${rows.join('')}\n`)
})

it('the portal describes the event catalogue in German', () => {
  expect([...germanDescriptions.keys()]).toEqual(eventTypes.map(({ type }) => type))
})

it('the types of the event catalogue are valid', () => {
  for (const { type } of eventTypes) expect(type).toMatch(EVENT_TYPE)
})

const tasks = housekeepingTasks(
  { keepDays: { events: 1, consents: 1 }, signingKeyDays: 90 },
  createCipher([Buffer.alloc(32)]),
)

const [periods] = /^\| Table \| Kept for \| Task \|\n(?:\|.*\n)+/m.exec(read('docs/housekeeping.md'))!
const kept = table<'Table' | 'Kept for' | 'Task'>(periods)

it('the periods in docs/housekeeping.md are those of the tasks, and of tables that exist', () => {
  expect(kept.map((row) => row.Task)).toEqual(tasks.map(({ name }) => name))
  const models = [...read('prisma/schema.prisma').matchAll(/^model (\w+) \{$/gm)].map(([, name]) => name!)
  expect(models).toEqual(expect.arrayContaining(kept.flatMap((row) => row.Table.split(', '))))
})

it('the minutes in docs/housekeeping.md in which a service takes all hourly tasks follow from their number', () => {
  const [, minutes] = /takes two of the hourly tasks a minute,[^.]*and all tasks within (\d+)\./.exec(
    read('docs/housekeeping.md'),
  )!
  expect(BEGUN_A_MINUTE).toBe(2)
  expect(Number(minutes)).toBe(Math.ceil(tasks.filter(({ every }) => every === 3_600).length / BEGUN_A_MINUTE))
})

const LIMITS =
  /On each node, ([\d,]+) requests of a member and app may wait, ([\d,]+) of the app itself and ([\d,]+) of a team; more are 429\. So two nodes hold ([\d,]+) of a team/
const numbers = (LIMITS.exec(read('docs/sync.md').replace(/\s+/g, ' ')) ?? [])
  .slice(1)
  .map((text) => Number(text.replace(',', '')))

it('the operations of http_request_duration_seconds in docs/monitoring.md are those that the code names', () => {
  const [row] = /^\| `http_request_duration_seconds` .*$/m.exec(read('docs/monitoring.md'))!
  const documented = [...row.split('Operation: ')[1]!.matchAll(/`([\w.-]+)`/g)].map(([, name]) => name!)
  const sources = readdirSync(join(root, 'server'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.ts$/.test(path),
  )
  const named = sources.flatMap((path) =>
    [...read(`server/${path}`).matchAll(/\bstate\.operation = '([\w-]+)'/g)].map(([, name]) => name!),
  )
  const others = ['storage.get', 'batch', 'other', 'oauth', ...Object.keys(routes).map((name) => `oauth.${name}`)]
  expect(documented.toSorted()).toEqual([...new Set([...named, ...others])].sort())
})

const response = () => new ServerResponse(new IncomingMessage(new Socket()))

/** How many of these wait before one is refused. */
function waiting(holds: LongPollSlots, holder: (i: number) => Parameters<LongPollSlots['hold']>[0]): number {
  const before = holds.size
  for (let i = 0; i < 10_000; i++) {
    try {
      holds.hold(holder(i), response())
    } catch (error) {
      expect(error).toMatchObject({
        message: 'Too many requests of this member, app or team already wait for changes.',
      })
      return holds.size - before
    }
  }
  throw new Error('There is no limit.')
}

describe('the limits of waiting requests in docs/sync.md', () => {
  it('are those of a node: of a member and app, of an app itself, of a team', () => {
    const ofMember = waiting(new LongPollSlots(), () => ({ team: 'planners', app: 'planner', member: 'anna' }))
    const ofApp = waiting(new LongPollSlots(), () => ({ team: 'planners', app: 'planner', member: null }))
    const ofTeam = waiting(new LongPollSlots(), (i) => ({ team: 'planners', app: 'planner', member: `member-${i}` }))
    expect(numbers.slice(0, 3)).toEqual([ofMember, ofApp, ofTeam])
  })

  it('count on each node alone, so two hold twice as many of a team', () => {
    const nodes = [new LongPollSlots(), new LongPollSlots()]
    const ofTeam = nodes.map((holds) => waiting(holds, (i) => ({ team: 'planners', app: null, member: `member-${i}` })))
    expect(numbers[3]).toBe(ofTeam[0]! + ofTeam[1]!)
  })

  it('are of one member in all apps apart, and of one team over its apps', () => {
    const holds = new LongPollSlots()
    const [, , ofTeam] = numbers
    const apps = waiting(holds, (i) => ({ team: 'planners', app: `app-${i}`, member: 'anna' }))
    expect(apps).toBe(ofTeam)
  })
})

const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).map((path) => `test/${path}`)

/** The requirements of ASVS 5.0.0 in each section of a chapter, the first section first. */
const requirements: Record<number, readonly number[]> = {
  4: [5, 5, 2, 4],
  5: [1, 6, 3, 3],
  6: [3, 12, 8, 6, 8, 4, 2, 4],
  7: [3, 4, 2, 5, 3, 2],
  8: [4, 4, 3, 2],
  9: [3, 4],
  10: [2, 3, 5, 16, 5, 2, 3],
  16: [1, 5, 4, 3, 4],
}

const chapters = read('docs/records/security.md')
  .split(/^## V/m)
  .slice(1)
  .map((text) => ({
    chapter: Number.parseInt(text, 10),
    rows: table<'Number' | 'Asks' | 'Here' | 'Test'>(/(?:^\|.*\n)+/m.exec(text)![0]),
  }))
const rows = chapters.flatMap((one) => one.rows)

/** `4.3.1`, or all of `4.3.1–4.3.2`. */
function parseNumbers(text: string): string[] {
  const [first, last = first] = text.split('–')
  const section = first!.replace(/\d+$/, '')
  const [from, to] = [first!, last!].map((number) => Number(number.slice(section.length)))
  return Array.from({ length: to! - from! + 1 }, (_, at) => `${section}${from! + at}`)
}

describe('docs/records/security.md', () => {
  it.each(Object.entries(requirements))('has each requirement of chapter V%s once, in order', (chapter, counts) => {
    const all = counts.flatMap((count, at) => parseNumbers(`${chapter}.${at + 1}.1–${chapter}.${at + 1}.${count}`))
    const found = chapters.find((one) => one.chapter === Number(chapter))
    expect(found?.rows.flatMap((row) => parseNumbers(row.Number))).toEqual(all)
  })

  it('says of each whether it is held, and names a test where it is', () => {
    for (const { Number: number, Here, Test } of rows) {
      const [, state] = /^(held|documented|not held|operator|does not apply)\b/.exec(Here) ?? []
      expect([number, state]).toEqual([number, expect.any(String)])
      if (state === 'held') expect([number, Test]).toEqual([number, expect.stringMatching(/^test\//)])
      if (state === 'documented' || state === 'operator')
        expect([number, Here]).toEqual([number, expect.stringMatching(/\]\(/)])
    }
  })
})

describe.each(['docs/records/security.md', 'SECURITY.md'])('%s', (name) => {
  const text = read(name)

  it('names tests that there are', () => {
    const names = [...text.matchAll(/`(test\/[\w./*-]+)`/g)].map(([, path]) => path!)
    expect(names.length).toBeGreaterThan(20)
    const missing = names.filter((path) => {
      const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`)
      return !files.some((file) => pattern.test(file))
    })
    expect(missing).toEqual([])
  })
})
