import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { procedure } from '../../routers/kernel/trpc.ts'
import type { RefusedForm } from '../../server/portal/forms/form.ts'
import { form } from '../../server/portal/forms/form.ts'
import { chance } from '../support/chance.ts'
import { times } from '../support/rounds.ts'
import { sentForm } from '../support/sent-form.ts'

const change = procedure
  .input(
    z.object({
      text: z.string(),
      longText: z.string().max(6_000).optional(),
      url: z.string().trim().pipe(z.string()).meta({ minLength: 1, maxLength: 2048, format: 'uri' }),
      role: z.enum(['owner', 'developer']),
      days: z.literal([90, 180]).default(90),
      version: z.int(),
      devices: z.boolean().default(false),
      lines: z.array(z.string()).optional(),
      scopes: z.array(z.string()),
      purpose: z.record(z.string(), z.string().meta({ maxLength: 1000 })).optional(),
    }),
  )
  .mutation(() => null)

const every = form(
  'change',
  change,
  ['text', 'longText', 'url', 'role', 'days', 'version', 'devices', 'lines', 'scopes', 'purpose', 'confirm'],
  { own: { confirm: z.string() } },
)
type Values = ReturnType<typeof every.read>

const scopes = ['a', 'b', 'c']
const options = scopes.map((scope) => [scope, `Scope ${scope}`] as const)
const label = 'Label'

function rendered(values: Partial<Values>, refused?: RefusedForm) {
  const { hidden, seen, field } = every.at(refused ? { refused } : {}, values)
  return [
    seen('version'),
    hidden('confirm'),
    field('text', { label }),
    field('longText', { label, rows: 3 }),
    field('url', { label, hint: 'Hint' }),
    field('role', {
      label,
      options: [
        ['owner', 'Owner'],
        ['developer', 'Developer'],
      ],
    }),
    field('days', {
      label,
      options: [
        ['90', '90 days'],
        ['180', '180 days'],
      ],
    }),
    field('devices', { label }),
    field('lines', { label, rows: 3 }),
    field('scopes', { label, options }),
    field('purpose', { label, options }),
  ]
    .map(({ text }) => text)
    .join('\n')
}

const draw = chance('forms')
const characters = [
  'a',
  ' ',
  '"',
  "'",
  '<',
  '>',
  '&',
  '&amp;',
  '\u{1f600}',
  'é',
  '=',
  '%',
  '+',
  '</textarea>',
  '\u2028',
]
const word = () => Array.from({ length: draw(6) }, () => characters[draw(characters.length)]).join('')
const line = () => `x${word()}`.trim()
const some = <T>(all: readonly T[]) => all.filter(() => draw(2) === 0)

const values = (): Values => {
  const purpose = Object.fromEntries(some(scopes).map((scope) => [scope, line()]))
  return {
    text: word(),
    longText: Array.from({ length: draw(4) }, word).join('\n'),
    url: word(),
    role: draw(2) === 0 ? 'owner' : 'developer',
    days: draw(2) === 0 ? 90 : 180,
    version: draw(1_000_000_000),
    devices: draw(2) === 0,
    lines: Array.from({ length: draw(3) }, line),
    scopes: some(scopes),
    ...(Object.keys(purpose).length > 0 && { purpose }),
    confirm: word(),
  }
}

describe('a form', () => {
  it('reads back the values that its page shows', () => {
    for (let round = 0; round < times(20_000, 500); round++) {
      const given = values()
      expect(every.read(sentForm(rendered(given)))).toEqual(given)
    }
  })

  it('shows again what was refused, with the version that was posted, but for other hidden fields', () => {
    for (let round = 0; round < times(5_000, 200); round++) {
      const [stored, wrong] = [values(), values()]
      const typed = sentForm(rendered(wrong))
      const page = rendered(stored, { action: 'change', problems: [], typed })
      expect(every.read(sentForm(page))).toEqual({ ...wrong, confirm: stored.confirm })
    }
  })

  it('takes types and bounds of its fields from the schema', () => {
    const page = rendered({})
    expect(page).toMatch(
      /<input id="change-url" name="url" type="url"[^>]* required maxlength="2048" aria-describedby="change-url-hint">/,
    )
    expect(page).toMatch(
      /<input id="change-text" name="text" type="text" value="" autocomplete="off" spellcheck="false">/,
    )
    expect(page).toMatch(/<textarea id="change-longText" name="longText" rows="3" spellcheck="false">/)
    expect(page.match(/name="purpose\.[abc]"[^>]* maxlength="1000"/g)).toHaveLength(3)
  })

  it('puts each problem at its field, and the focus on the first', () => {
    const problems = [
      { name: 'purpose.b', text: 'No purpose.' },
      { name: 'scopes', text: 'No scope.' },
      { name: undefined, text: 'Changed meanwhile.' },
    ]
    const page = rendered({}, { action: 'change', problems, typed: new URLSearchParams() })
    expect(page).toContain('id="change-scopes-problem"><span>No scope.</span>')
    expect(page).toContain('id="change-purpose.b-problem"><span>No purpose.</span>')
    expect(page.match(/autofocus/g)).toHaveLength(1)
    expect(page).toMatch(/name="scopes" value="a" autofocus/)
    expect(rendered({}, { action: 'other', problems, typed: new URLSearchParams() })).toBe(rendered({}))
  })

  const complete = () => sentForm(rendered({ role: 'owner', version: 1 }))

  it.each([
    ['a choice that is not offered', 'role', 'admin'],
    ['a number that is not offered', 'days', '91'],
    ['a version that is no number', 'version', '1e3'],
    ['a version of ten digits', 'version', '1000000000'],
    ['an empty version', 'version', ''],
  ])('refuses %s with 400', (_, name, value) => {
    const posted = complete()
    posted.set(name, value)
    expect(() => every.read(posted)).toThrow(expect.objectContaining({ id: 'requestInvalid', status: 400 }))
  })

  it.each(['role', 'version'])('refuses the absence of %s with 400', (name) => {
    const posted = complete()
    posted.delete(name)
    expect(() => every.read(posted)).toThrow(expect.objectContaining({ id: 'requestInvalid', status: 400 }))
  })

  it('leaves out optional fields that are absent, and empties the others', () => {
    const read = every.read(new URLSearchParams({ role: 'owner', version: '7' }))
    expect(read).toEqual({ text: '', url: '', role: 'owner', version: 7, devices: false, scopes: [], confirm: '' })
  })

  it('accepts a file as a file alone', () => {
    const upload = form('logo', change, ['picture'], { own: { picture: z.file() } })
    const posted = new FormData()
    posted.set('picture', 'text')
    expect(() => upload.read(posted)).toThrow(expect.objectContaining({ id: 'requestInvalid' }))
    posted.set('picture', new File(['x'], 'logo.png'))
    expect(upload.read(posted).picture).toBeInstanceOf(File)
  })

  it('is refused at its definition for a field of another type', () => {
    const dated = procedure.input(z.object({ at: z.date() })).mutation(() => null)
    expect(() => form('change', dated, ['at'])).toThrow('A form has no field of the type date.')
  })
})
