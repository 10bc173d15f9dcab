import { describe, expect, it } from 'vitest'
import { actions, fields } from '../../routers/developer/audit/noted.ts'
import type { Note } from '../../routers/developer/audit/record.ts'
import type { PageRequest } from '../../server/portal/page-request.ts'
import { auditChanges } from '../../server/portal/pages/audit-changes.ts'
import { words } from '../../server/portal/pages/layout.ts'

type Values = Record<string, unknown> | null

const show = (before: Values, after: Values, language: 'en' | 'de' = 'en') =>
  auditChanges({ language, w: words[language] } as PageRequest, before, after)?.text.replace(
    /<span class="visually-hidden">.*?<\/span>|<\/?bdi>|<\/?span>/g,
    '',
  )

describe('the changes of an audit entry', () => {
  it.each([
    [
      'a value with words',
      { role: 'owner' },
      { role: 'developer' },
      '<dt>Role</dt><dd><del>owner</del><ins>developer</ins></dd>',
    ],
    ['a value of no field', { x: 1 }, { x: 2 }, '<dt>x</dt><dd><del>1</del><ins>2</ins></dd>'],
    ['a flag', { devices: true }, { devices: false }, '<dd><del>yes</del><ins>no</ins></dd>'],
    [
      'the items of a list alone that differ',
      { scopes: ['a', 'b'] },
      { scopes: ['b', 'c'] },
      '<dd><del>a</del><ins>c</ins></dd>',
    ],
    [
      'the members of an object alone that differ',
      { purpose: { a: '1', b: '2' } },
      { purpose: { a: '1', b: '3' } },
      '<dd><del>b: 2</del><ins>b: 3</ins></dd>',
    ],
    ['a value that is new', { name: null }, { name: '<b>' }, '<dt>Name</dt><dd><ins>&lt;b&gt;</ins></dd>'],
    [
      'a time',
      { endsAt: null },
      { endsAt: '2026-11-29T12:00:00Z' },
      '<ins><time datetime="2026-11-29T12:00:00.000Z">29 Nov 2026 12:00:00</time></ins>',
    ],
    [
      'a time in Unix seconds',
      { requestedAt: 1_795_953_600 },
      { requestedAt: null },
      '<dt>Requested</dt><dd><del><time datetime="2026-11-29T12:00:00.000Z">29 Nov 2026 12:00:00</time></del></dd>',
    ],
    [
      'words and times within a value',
      null,
      { refusal: { reason: 'No.', at: 1_795_953_600, asked: { devices: true, scopes: [] } } },
      '<dt>Refusal</dt><dd>Reason: No.<br>Time: <time datetime="2026-11-29T12:00:00.000Z">29 Nov 2026 12:00:00</time><br>Asked for: Sign-in on devices: yes<br>Scopes: –</dd>',
    ],
  ])('have %s', (_what, before, after, expected) => {
    expect(show(before, after)).toContain(expected)
  })

  it('are a list of values where something was created or removed', () => {
    const values = { type: 'web', scopes: ['a', 'b'], homepage: '' }
    const list =
      '<dl class="facts"><div><dt>Art</dt><dd>Web-App im Browser</dd></div><div><dt>Berechtigungen</dt><dd>a<br>b</dd></div></dl>'
    expect(show(null, values, 'de')).toBe(list)
    expect(show(values, null, 'de')).toBe(list)
  })

  it('are absent where nothing differs', () => {
    expect(show({ scopes: ['a', 'b'] }, { scopes: ['b', 'a'] })).toBeUndefined()
    expect(show(null, null)).toBeUndefined()
  })
})

describe.each(['en', 'de'] as const)('the words of the audit log in %s', (language) => {
  const missing = (names: readonly string[], known: Record<string, string>) =>
    names.filter((name) => !Object.hasOwn(known, name))

  it('name each action and each field that is noted', () => {
    expect(missing(actions, words[language].auditActions)).toEqual([])
    expect(missing(fields, words[language].fields)).toEqual([])
  })
})

describe('a note', () => {
  it('has a listed action and listed fields alone: the compiler refuses others', async () => {
    const noted: object[] = []
    const note: Note = async (change) => void noted.push(change)
    const entry = { team: 't', target: 'c' }
    const values = { name: 'Trainer', colour: 'red' }
    await note({ ...entry, action: 'client.update', before: { name: 'Coach' }, after: { name: 'Trainer' } })
    // @ts-expect-error An action without words.
    await note({ ...entry, action: 'client.paint' })
    // @ts-expect-error A field without words,
    await note({ ...entry, action: 'client.update', before: values })
    // @ts-expect-error also among others.
    await note({ ...entry, action: 'client.update', after: { ...values, scopes: [] } })
    expect(noted).toHaveLength(4)
  })
})
