import { describe, expect, it } from 'vitest'
import { axisTop, chart } from '../../server/browser/look/components/chart.ts'
import { diff } from '../../server/browser/look/components/diff.ts'
import { checkBox } from '../../server/browser/look/components/field.ts'
import { pager } from '../../server/browser/look/components/pager.ts'
import { progress } from '../../server/browser/look/components/progress.ts'
import { timeAgo } from '../../server/browser/look/components/time.ts'

const stripTags = (markup: string) => markup.replace(/<[^>]+>/g, '')

describe('the axis of a chart', () => {
  it.each([
    [0, 2],
    [1, 2],
    [3, 4],
    [9, 10],
    [10, 10],
    [11, 20],
    [99, 100],
    [101, 200],
    [1_201, 2_000],
    [2_147_483_647, 4_000_000_000],
  ])('ends, for %s, at %s', (highest, top) => {
    expect(axisTop(highest)).toBe(top)
    expect(Number.isInteger(top / 2)).toBe(true)
  })
})

describe('a chart', () => {
  const draw = (values: readonly (readonly number[])[]) =>
    chart({
      label: 'Requests',
      language: 'en',
      series: [
        { name: 'Succeeded', tone: 'good' },
        { name: 'Refused', tone: 'bad' },
      ],
      intervals: values.map((one, at) => ({ at: at * 3_600, values: one })),
    }).text

  it('says its highest and its last value, and has the others in a table', () => {
    const text = draw([
      [1, 2],
      [0, 0],
      [1_500, 4],
    ])
    expect(text).toContain('aria-label="Requests; highest: 1,504, last: 1,504"')
    expect(text.match(/<rect class="(?:good|bad)"/g)).toHaveLength(4)
    expect(text.match(/<td role="cell" data-label="Refused" class="number">\d+/g)).toEqual([
      '<td role="cell" data-label="Refused" class="number">2',
      '<td role="cell" data-label="Refused" class="number">4',
    ])
  })

  it('of zeros has an axis and no table', () => {
    const text = draw([[0, 0]])
    expect(text).not.toMatch(/<table|NaN|Infinity/)
    expect(text).toContain('<span>2</span><span>1</span><span>0</span>')
  })
})

describe('a time', () => {
  const now = Date.UTC(2026, 10, 29, 12) / 1_000
  it.each([
    [0, 'now', 'jetzt'],
    [59, 'now', 'jetzt'],
    [60, '1 minute ago', 'vor 1 Minute'],
    [-150, 'in 2 minutes', 'in 2 Minuten'],
    [3_600 * 3, '3 hours ago', 'vor 3 Stunden'],
    [86_400, 'yesterday', 'gestern'],
    [86_400 * 7, '7 days ago', 'vor 7 Tagen'],
    [86_400 * 8, '21 Nov 2026 12:00:00', '21.11.2026 12:00:00'],
  ])('%s seconds ago is "%s" and "%s"', (seconds, english, german) => {
    const show = (language: 'en' | 'de') => timeAgo(now - seconds, { now, language }).text
    expect([stripTags(show('en')), stripTags(show('de'))]).toEqual([english, german])
    expect(show('en')).toContain(`datetime="${new Date((now - seconds) * 1_000).toISOString()}"`)
  })

  it('has the exact one to hover', () => {
    expect(timeAgo(now - 60, { now, language: 'en' }).text).toContain('title="29 Nov 2026, 11:59:00 UTC"')
  })
})

describe('a diff', () => {
  it('says aloud what was before and what is now', () => {
    const { text } = diff([{ label: 'Role', removed: ['owner'], added: ['<developer>'] }], 'en')
    expect(stripTags(text)).toBe('RoleBefore: ownerNow: &lt;developer&gt;')
  })
})

describe('a pager', () => {
  it("preserves the address's parameters, except the notice of what was done", () => {
    const query = new URLSearchParams({ type: 'a&b', done: 'saved', offset: '30' })
    const { text } = pager({ language: 'en', path: '/p', query, offset: 30, shown: 30, more: true, rows: 30 })!
    expect([...text.matchAll(/href="([^"]+)"/g)].map(([, address]) => address)).toEqual([
      '/p?type=a%26b',
      '/p?type=a%26b&amp;offset=60',
    ])
  })

  it('is absent where there is one page', () => {
    const query = new URLSearchParams()
    expect(pager({ language: 'de', path: '/p', query, offset: 0, shown: 3, more: false, rows: 30 })).toBeNull()
  })
})

describe('a progress', () => {
  it('has the colour of a limit from nine tenths on', () => {
    const draw = (value: number) => progress({ label: 'Used', value, max: 10, text: `${value}` }).text
    expect([draw(8.9), draw(9)].map((text) => text.includes('class="progress full"'))).toEqual([false, true])
  })
})

describe('a checkbox', () => {
  it('has its hint and problem in one block with it, and names them', () => {
    const problem = { texts: ['It is needed.'], focus: true }
    const { text } = checkBox({ id: 'use', name: 'use', label: 'Use it', hint: 'At once.', problem }, false)
    const [, block] = /^<div class="check">(.*)<\/div>$/s.exec(text.trim())!
    expect(
      stripTags(block!)
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['Use it', 'At once.', 'It is needed.'])
    const [, named] = /aria-describedby="([^"]+)"/.exec(block!)!
    for (const id of named!.split(' ')) expect(block).toContain(`id="${id}"`)
  })
})
