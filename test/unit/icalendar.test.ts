import { describe, expect, it } from 'vitest'
import type { CalendarEvent } from '../../routers/calendar/events.ts'
import { renderCalendar } from '../../server/calendar/icalendar.ts'
import { parse } from '../calendar/calendar-world.ts'
import { table } from '../support/markdown-table.ts'

const at = (moment: string) => Date.parse(moment) / 1000
const event: CalendarEvent = {
  id: 'training-12',
  title: 'Rowing',
  start: at('2026-05-01T16:00:00Z'),
  end: at('2026-05-01T17:30:00Z'),
  location: 'Boathouse',
  allDay: false,
  sequence: 3,
  modifiedAt: at('2026-04-01T10:00:00Z'),
  cancelled: false,
}
const render = (events: Partial<CalendarEvent>[], feed = { name: 'Seaside', timeZone: 'Europe/Vienna' }) =>
  renderCalendar(
    events.map((more) => ({ ...event, ...more })),
    { feed, host: 'auth.test' },
  )

describe('a calendar', () => {
  it('is in the order and the lines of RFC 5545', async () => {
    expect((await render([{}])).split('\r\n')).toEqual([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//member-apps//calendar//EN',
      'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
      'X-PUBLISHED-TTL:PT1H',
      'X-WR-CALNAME:Seaside',
      'X-WR-TIMEZONE:Europe/Vienna',
      'BEGIN:VEVENT',
      expect.stringMatching(/^UID:[0-9a-f]{32}@auth\.test$/),
      'SEQUENCE:3',
      'DTSTAMP:20260401T100000Z',
      'DTSTART:20260501T160000Z',
      'DTEND:20260501T173000Z',
      'SUMMARY:Rowing',
      'LOCATION:Boathouse',
      'STATUS:CONFIRMED',
      'LAST-MODIFIED:20260401T100000Z',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ])
  })

  it('is complete without events', async () => {
    const { name, events, properties } = parse(await render([]))
    expect([name, events, properties.slice(-2)]).toEqual(['Seaside', [], ['x-wr-calname', 'x-wr-timezone']])
  })

  it.each(['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
    'is valid with days without an end, in %s',
    async (timeZone) => {
      const endless = at('9999-12-31T23:59:59Z')
      const days = [{ end: endless }, { start: endless, end: endless }].map((one) => ({ ...one, allDay: true }))
      const text = await render(days, { name: 'Seaside', timeZone })
      const ends = [...text.matchAll(/DTEND;VALUE=DATE:(.*)/g)].map(([, day]) => day)
      expect(ends).toEqual(timeZone === 'Pacific/Pago_Pago' ? ['99991230', '99991230'] : ['99991231', '99991231'])
      expect(parse(text).events).toHaveLength(2)
    },
  )

  it('has no DTEND for an event without length', async () => {
    const text = await render([{ end: event.start }])
    expect(text).not.toContain('DTEND')
    expect(parse(text).events).toMatchObject([{ start: event.start, end: event.start }])
  })

  it('has UTC times that both parsers read alike, in every zone and around its changes of time', async () => {
    const hours = Array.from({ length: 97 }, (_, n) => at('2026-10-24T00:00:00Z') + n * 1800)
    for (const timeZone of [
      'Europe/Vienna',
      'Africa/Casablanca',
      'America/Vancouver',
      'Asia/Kolkata',
      'Pacific/Apia',
    ]) {
      const times = hours.map((start, n) => ({ id: String(n), start, end: start + 1800 }))
      const { events, again } = parse(await render(times, { name: '', timeZone }))
      const wanted = times.map(({ start, end }) => ({ start, end }))
      for (const read of [events, again]) expect(read.map(({ start, end }) => ({ start, end }))).toEqual(wanted)
    }
  })
})

describe('a text with whatever a club or another hand has stored', () => {
  const HOSTILE = [
    'a\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:x',
    'a\nATTENDEE:mailto:a@example.org',
    'a\rEND:VCALENDAR',
    'a\u2028b\u2029c\u0085d\u0000e\u000bf\u001b[31m',
    '\\n \\N \\; \\, \\\\ " : ; , =\t',
    'BEGIN:VALARM',
    `${'é🏊🏽‍♀️'.repeat(60)}\r\nX-WR-CALNAME:x`,
    ' leading and trailing ',
    '<script>alert(1)</script>',
    '',
  ]
  it.each(HOSTILE)('adds no line and loses nothing visible: %j', async (value) => {
    const text = await render([{ title: value, location: value, id: value }], { name: value, timeZone: value })
    const { name, timeZone, components, properties, events, again } = parse(text)
    const read = value.replace(/\r\n?/g, '\n').replace(/(?![\t\n])\p{Cc}|[\u2028\u2029]/gu, ' ')
    expect([components, timeZone, again.length]).toEqual([['vevent'], 'UTC', 1])
    expect(properties).toEqual([
      'version',
      'prodid',
      'refresh-interval',
      'x-published-ttl',
      'x-wr-calname',
      'x-wr-timezone',
    ])
    expect([name, events[0]!.title, events[0]!.location]).toEqual([read, read, read])
    for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })
})

describe('an all-day event', () => {
  const days = table<'zone' | 'start' | 'end' | 'first' | 'after'>(`
  | zone             | start                | end                  | first      | after      |
  |------------------|----------------------|----------------------|------------|------------|
  | Europe/Vienna    | 2026-04-30T22:00:00Z | 2026-05-01T22:00:00Z | 2026-05-01 | 2026-05-02 |
  | Europe/Vienna    | 2026-04-30T22:00:00Z | 2026-05-01T21:59:59Z | 2026-05-01 | 2026-05-02 |
  | Europe/Vienna    | 2026-04-30T22:00:00Z | 2026-04-30T22:00:00Z | 2026-05-01 | 2026-05-02 |
  | Europe/Vienna    | 2026-03-28T23:00:00Z | 2026-03-29T22:00:00Z | 2026-03-29 | 2026-03-30 |
  | Europe/Vienna    | 2026-10-24T22:00:00Z | 2026-10-26T23:00:00Z | 2026-10-25 | 2026-10-27 |
  | America/New_York | 2026-05-01T04:00:00Z | 2026-05-03T04:00:00Z | 2026-05-01 | 2026-05-03 |
  | Pacific/Apia     | 2026-04-30T11:00:00Z | 2026-05-01T11:00:00Z | 2026-05-01 | 2026-05-02 |
  | UTC              | 2026-12-31T00:00:00Z | 2027-01-01T00:00:00Z | 2026-12-31 | 2027-01-01 |
  | Mars/Base        | 2026-05-01T00:00:00Z | 2026-05-02T00:00:00Z | 2026-05-01 | 2026-05-02 |
  `)
  it.each(days)('from $start to $end has the days from $first in $zone', async ({ zone, start, end, first, after }) => {
    const text = await render([{ allDay: true, start: at(start), end: at(end) }], { name: '', timeZone: zone })
    const { events, again } = parse(text)
    for (const read of [events, again]) expect(read).toMatchObject([{ start: first, end: after }])
    expect(text).toContain(`DTSTART;VALUE=DATE:${first.replaceAll('-', '')}\r\n`)
  })
})
