import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { useWorld } from '../support/started.ts'
import { newClub, newGroup, newMember, newTenant } from './me-tenant.ts'

const world = useWorld()

const DAY = 86_400
const unix = (moment: string) => Date.parse(moment) / 1000

/** Creates a published, club-wide event from second 1000 to second 2000, unless `more` says otherwise. */
const newEvent = async (
  clubId: string,
  more: Record<string, unknown> & { start?: number; end?: number; groups?: string[] } = {},
) => {
  const { start = 1_000, end = 2_000, groups = [], ...rest } = more
  const times = { start: new Date(start * 1000), end: new Date(end * 1000) }
  const data = { id: randomUUID() as string, title: 'Training', location: 'Hall', state: 'published' as const }
  const of = { create: groups.map((groupId) => ({ groupId })) }
  await world.db.event.create({ data: { ...data, ...times, clubId, ...rest, groups: of } })
  return data.id
}
const newCalendar = async (clubId: string, visible: boolean) => {
  const { id } = await world.db.calendar.create({ data: { id: randomUUID(), clubId, name: 'Season', visible } })
  return id
}
const ALL = '/me/events?start=0&end=9999'

describe('GET /me/events', () => {
  it('returns exactly the documented fields', async () => {
    const { club, get } = await newTenant(world)
    const id = await newEvent(club, { title: 'Straßenlauf', location: '' })
    const items = [{ id, title: 'Straßenlauf', start: 1_000, end: 2_000, location: '' }]
    expect(await get(ALL)).toEqual({ status: 200, body: { items } })
  })

  it("returns club events, events of visible calendars and of the member's groups", async () => {
    const { club, member, list } = await newTenant(world)
    const other = await newMember(world.db, club)
    const seen = [
      await newEvent(club),
      await newEvent(club, { calendarId: await newCalendar(club, true) }),
      await newEvent(club, { groups: [await newGroup(world.db, club, [[member, 'member']])] }),
      await newEvent(club, { groups: [await newGroup(world.db, club, [[member, 'trainer']])] }),
    ]
    await newEvent(club, { calendarId: await newCalendar(club, false) })
    await newEvent(club, { groups: [await newGroup(world.db, club, [[other, 'member']])] })
    await newEvent(club, { groups: [await newGroup(world.db, club)] })
    expect(await list(ALL)).toEqual(seen.sort())
  })

  it('returns an event of several groups once, also to a member of all of them', async () => {
    const { club, member, list } = await newTenant(world)
    const own = await newGroup(world.db, club, [[member, 'member']])
    const trained = await newGroup(world.db, club, [[member, 'trainer']])
    const foreign = await newGroup(world.db, club)
    const seen = [
      await newEvent(club, { groups: [own, trained, foreign] }),
      await newEvent(club, { groups: [foreign, trained] }),
    ]
    await newEvent(club, { groups: [foreign, await newGroup(world.db, club)] })
    expect(await list(ALL)).toEqual(seen.sort())
  })

  it('returns an event of a calendar and of groups when one of them makes it visible', async () => {
    const { club, member, list } = await newTenant(world)
    const own = await newGroup(world.db, club, [[member, 'member']])
    const foreign = await newGroup(world.db, club)
    const [shown, hidden] = [await newCalendar(club, true), await newCalendar(club, false)]
    const seen = [
      await newEvent(club, { calendarId: shown, groups: [foreign] }),
      await newEvent(club, { calendarId: hidden, groups: [own] }),
      await newEvent(club, { calendarId: shown, groups: [own] }),
    ]
    await newEvent(club, { calendarId: hidden, groups: [foreign] })
    expect(await list(ALL)).toEqual(seen.sort())
  })

  it('never returns drafts', async () => {
    const { club, member, list } = await newTenant(world)
    const draft = { state: 'draft' }
    await newEvent(club, draft)
    await newEvent(club, { ...draft, calendarId: await newCalendar(club, true) })
    await newEvent(club, { ...draft, groups: [await newGroup(world.db, club, [[member, 'trainer']])] })
    expect(await list(ALL)).toEqual([])
  })

  it("returns events of the token's club only", async () => {
    const { member, list } = await newTenant(world)
    const other = await newClub(world.db)
    const otherGroup = await newGroup(world.db, other, [[member, 'member']])
    const otherCalendar = await newCalendar(other, true)
    await newEvent(other)
    await newEvent(other, { calendarId: otherCalendar })
    await newEvent(other, { groups: [otherGroup] })
    expect(await list(ALL)).toEqual([])
  })

  it('sorts by start, then end, then the bytes of the id', async () => {
    const { club, list } = await newTenant(world)
    const ids = ['-', '0', 'A', '_', 'a'].map((end) => `${club}${end}`)
    for (const id of ids.toReversed()) await newEvent(club, { id, start: 500, end: 800 })
    const shorter = await newEvent(club, { start: 500, end: 700 })
    const later = await newEvent(club, { start: 501, end: 600 })
    const earlier = await newEvent(club, { start: 499, end: 9_000 })
    expect(await list(ALL)).toEqual([earlier, shorter, ...ids, later])
  })
})

describe('the range 1000 to 2000', () => {
  it.each([
    { start: 900, end: 1_000, inside: false, says: 'ends at its start' },
    { start: 900, end: 1_001, inside: true, says: 'ends a second after its start' },
    { start: 900, end: 2_100, inside: true, says: 'spans it' },
    { start: 1_999, end: 2_100, inside: true, says: 'starts a second before its end' },
    { start: 2_000, end: 2_100, inside: false, says: 'starts at its end' },
    { start: 999, end: 999, inside: false, says: 'is a moment before it' },
    { start: 1_000, end: 1_000, inside: true, says: 'is a moment at its start' },
    { start: 1_999, end: 1_999, inside: true, says: 'is a moment inside' },
    { start: 2_000, end: 2_000, inside: false, says: 'is a moment at its end' },
  ])('includes an event that $says: $inside', async ({ start, end, inside }) => {
    const { club, list } = await newTenant(world)
    const id = await newEvent(club, { start, end })
    expect(await list('/me/events?start=1000&end=2000')).toEqual(inside ? [id] : [])
  })

  it('may be a moment, which includes the events in progress', async () => {
    const { club, list } = await newTenant(world)
    const id = await newEvent(club, { start: 999, end: 1_001 })
    await newEvent(club, { start: 1_000, end: 1_000 })
    await newEvent(club, { start: 1_000, end: 2_000 })
    expect(await list('/me/events?start=1000&end=1000')).toEqual([id])
  })
})

describe('the range', () => {
  it('defaults to the next 90 days', async () => {
    const { club, list } = await newTenant(world)
    const now = world.now()
    await newEvent(club, { start: now - 100, end: now - 60 })
    const going = await newEvent(club, { start: now - 100, end: now + 60 })
    const last = await newEvent(club, { start: now + 90 * DAY - 60, end: now + 91 * DAY })
    await newEvent(club, { start: now + 90 * DAY + 60, end: now + 91 * DAY })
    expect(await list('/me/events')).toEqual([going, last])
  })

  it('defaults to 90 days from start', async () => {
    const { club, list } = await newTenant(world)
    const inside = await newEvent(club, { start: 90 * DAY - 1, end: 91 * DAY })
    await newEvent(club, { start: 90 * DAY, end: 91 * DAY })
    expect(await list('/me/events?start=0')).toEqual([inside])
  })

  it('starts now when only end is given', async () => {
    const { club, list, get } = await newTenant(world)
    const now = world.now()
    await newEvent(club, { start: now - 100, end: now - 60 })
    const going = await newEvent(club, { start: now - 100, end: now + 60 })
    expect(await list(`/me/events?end=${now + 120}`)).toEqual([going])
    expect((await get(`/me/events?end=${now - 60}`)).status).toBe(400)
  })

  it.each([
    ['an ordinary year', '2026-11-20T12:34:56Z', '2027-11-20T12:34:56Z'],
    ['a year with 29 February in it', '2027-11-20T00:00:00Z', '2028-11-20T00:00:00Z'],
    ['from 29 February to 1 March', '2028-02-29T23:59:59Z', '2029-03-01T23:59:59Z'],
    ['from 28 February to 28 February', '2027-02-28T06:00:00Z', '2028-02-28T06:00:00Z'],
    ['from the first second', '1970-01-01T00:00:00Z', '1971-01-01T00:00:00Z'],
  ])('is at most one year, inclusive: %s', async (_, first, last) => {
    const { club, list, get } = await newTenant(world)
    const [start, end] = [unix(first), unix(last)]
    const id = await newEvent(club, { start: end - 1, end })
    expect(await list(`/me/events?start=${start}&end=${end}`)).toEqual([id])
    expect(await get(`/me/events?start=${start}&end=${end + 1}`)).toEqual({
      status: 400,
      body: { detail: 'Send start and end as a range of at most a the service.' },
    })
  })

  it('accepts times up to the last second of the year 9999', async () => {
    const { get } = await newTenant(world)
    const last = unix('9999-12-31T23:59:59Z')
    for (const query of [`start=${last}`, `start=${last}&end=${last}`, `start=${last - DAY}&end=${last}`]) {
      expect(await get(`/me/events?${query}`)).toEqual({ status: 200, body: { items: [] } })
    }
  })

  it.each([
    'start=',
    'end=',
    'start=abc',
    'start=-1',
    'start=%2B1',
    'start=01',
    'start=1.0',
    'start=1.5',
    'start=1e3',
    'start=0x10',
    'start=%201',
    'start=1&start=1',
    'end=1&end=2',
    'start=253402300800',
    'end=253402300800',
    'start=9007199254740993',
    `start=${'9'.repeat(400)}`,
    'start=null',
    'start=true',
    'start=%D9%A1',
    'start=1%00',
    'start=5&end=x',
  ])('returns 422 for %s', async (query) => {
    const { get } = await newTenant(world)
    expect(await get(`/me/events?${query}`)).toEqual({
      status: 422,
      body: { detail: 'start and end are Unix seconds.' },
    })
  })

  it.each([-1, 1.5, Number.NaN, 253_402_300_800, '5', null])('returns 422 for other callers too: %s', async (start) => {
    const { events } = callAs(world.core, world.principal()).me
    await expect(events({ start: start as number })).rejects.toMatchObject({
      status: 422,
      message: 'start and end are Unix seconds.',
    })
  })

  it('ignores unknown parameters', async () => {
    const { club, list } = await newTenant(world)
    const id = await newEvent(club)
    expect(await list(`${ALL}&limit=0&Start=x&scope=none`)).toEqual([id])
  })
})
