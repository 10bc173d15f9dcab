import { describe, expect, it } from 'vitest'
import { createFeed, toAddress } from '../../routers/calendar/feeds.ts'
import { callAs } from '../../routers/core.ts'
import type { ApiError } from '../../routers/kernel/errors.ts'
import { calendarFeeds, MAX_OF_FEED, MAX_UNKNOWN } from '../../server/calendar/serve.ts'
import { MemoryBudget } from '../../server/http/memory-budget.ts'
import type { StepContext } from '../../server/http/state.ts'
import type { Limits } from '../../server/limits/limit.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import { authWorld } from '../oauth/auth-world.ts'
import { createMember } from '../oauth/members.ts'
import { consentTo } from '../support/app-server.ts'
import { asPlatform } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { calendarCalls, scope } from './calendar-world.ts'

const auth = authWorld({ trustedProxies: ['127.0.0.1'] })
const calls = () => calendarCalls(auth)

/** A member of a club of their own. */
async function newMember() {
  const { db } = auth.world
  const member = await createMember(db, { email: 'mia@example.org' })
  const { organisationId: club } = await db.membership.findFirstOrThrow({ where: { personId: member } })
  return { member, club }
}

/** With a token. */
async function signedIn() {
  const { member, club } = await newMember()
  return { member, club, token: await calls().tokens(member, club) }
}

/** With the address of an app, which `POST /calendar` would return. */
async function newFeed() {
  const { db, core } = auth.world
  const { member, club } = await newMember()
  const grant = await consentTo(auth.world, { client: auth.client, member, club, scopes: [scope] })
  const newUrl = async () => toAddress('http://auth.test/v1', await createFeed(db, { member, club, grant }, core.now()))
  return { member, club, grant, newUrl, url: await newUrl() }
}

describe('the address that POST /calendar returns', () => {
  it('shows the events of me/events to ical.js and node-ical', async () => {
    const { addEvent, create, show } = calls()
    const { club, token } = await signedIn()
    for (const hours of [-8_000, -5, 1, 4_000]) await addEvent(hours, { title: `In ${hours} h` }, club)
    await addEvent(2, { state: 'draft' }, club)
    for (const days of [-400, 400]) await addEvent(24 * days, {}, club)
    const url = await create(token)
    expect(url).toMatch(/^http:\/\/auth\.test\/v1\/calendar\/[\w-]{22}\.ics$/)
    const shown = await show(url)
    const start = auth.world.now() - 365 * 86_400 + 60
    const half = start + 182 * 86_400
    const ranges = [
      [start, half],
      [half, start + 365 * 86_400],
      [start + 365 * 86_400, start + 700 * 86_400],
    ]
    const items = new Map<string, { title: string; start: number; end: number; location: string }>()
    for (const [from, to] of ranges) {
      const { body } = await auth.world.call('GET', `/me/events?start=${from}&end=${to}`, { token })
      for (const { id: key, ...item } of body.items) items.set(key, item)
    }
    const expected = [...items.values()].filter(({ title }) => title !== 'Training')
    expect(expected).toHaveLength(4)
    expect(shown.events.map(({ title, start, end, location }) => ({ title, start, end, location }))).toEqual(expected)
    expect(shown.again.map(({ title, start, end }) => ({ title, start, end }))).toEqual(
      expected.map(({ location: _, ...item }) => item),
    )
    expect(shown).toMatchObject({ name: 'Club', timeZone: 'UTC' })
  })

  it.each([
    ['published', true],
    ['cancelled', false],
  ])('shows a %s event to whom me/events shows a published one', async (state, isConfirmed) => {
    const { addEvent, create, show } = calls()
    const { member, club, token } = await signedIn()
    const { db } = auth.world
    const newGroup = async (people: object[]) =>
      (
        await db.group.create({
          data: { id: id('group'), clubId: club, name: 'Youth', people: { create: people } } as never,
        })
      ).id
    const newCalendar = async (visible: boolean) =>
      (await db.calendar.create({ data: { id: id('calendar'), clubId: club, name: 'Season', visible } })).id
    const [own, trained, others] = [
      await newGroup([{ personId: member, role: 'member' }]),
      await newGroup([{ personId: member, role: 'trainer' }]),
      await newGroup([]),
    ]
    const inGroups = (...groups: string[]) => ({ groups: { create: groups.map((groupId) => ({ groupId })) } })
    const cases = {
      club: {},
      open: { calendarId: await newCalendar(true) },
      closed: { calendarId: await newCalendar(false) },
      own: inGroups(own),
      several: inGroups(own, trained, others),
      trained: { ...inGroups(trained), calendarId: await newCalendar(false) },
      others: inGroups(others),
    }
    for (const [title, more] of Object.entries(cases)) await addEvent(1, { title, ...more }, club)
    const { body } = await auth.world.call('GET', '/me/events', { token })
    await db.event.updateMany({ where: { clubId: club }, data: { state: state as 'published' } })
    const listTitles = (events: { title: string }[]) => events.map(({ title }) => title).sort()
    const { events } = await show(await create(token))
    expect(listTitles(body.items)).toEqual(['club', 'open', 'own', 'several', 'trained'])
    expect(listTitles(events)).toEqual(listTitles(body.items))
    expect(new Set(events.map(({ status }) => status))).toEqual(new Set([isConfirmed ? 'CONFIRMED' : 'CANCELLED']))
  })

  it('has the 2,000 events that are nearest to now, with texts that are cut', async () => {
    const { addEvent, read } = calls()
    const { club, url } = await newFeed()
    await addEvent(24 * 300, { title: 'far' }, club)
    await addEvent(1, { title: 'near'.repeat(100), location: 'x'.repeat(501) }, club)
    await auth.world.db.$executeRaw`INSERT INTO "Event" (id, "clubId", title, start, "end", location, state)
      SELECT ${club} || n, ${club}, 'between', now() + interval '2 hours', now() + interval '3 hours', '', 'published'
      FROM generate_series(1, 1999) n`
    const { text } = await read(url)
    const unfolded = text.replaceAll('\r\n ', '')
    expect(unfolded.match(/^BEGIN:VEVENT/gm)).toHaveLength(2000)
    expect(unfolded).toContain(`SUMMARY:${'near'.repeat(75)}\r\nLOCATION:${'x'.repeat(500)}\r\n`)
    expect(unfolded).not.toContain('far')
  })

  it('of 2,000 events takes memory as large answers do: 503 without any, while a small one is answered', async () => {
    const { addEvent, read } = calls()
    const [large, small] = [await newFeed(), await newFeed()]
    await auth.world.db.$executeRaw`INSERT INTO "Event" (id, "clubId", title, start, "end", location, state)
      SELECT ${large.club} || n, ${large.club}, 'Training', now(), now() + interval '1 hour', '', 'published'
      FROM generate_series(1, 2000) n`
    await addEvent(1, {}, small.club)
    const { memory } = auth.world
    const free = memory.freeBytes
    expect(memory.take('a team', free)).toBe(true)
    expect([(await read(large.url)).status, (await read(small.url)).status]).toEqual([503, 200])
    memory.give('a team', free)
    expect((await read(large.url)).status).toBe(200)
    await expect.poll(() => memory.freeBytes).toBe(free)
  })

  it('answers with an ETag, 304 to who has it, and 200 again after a change', async () => {
    const { addEvent, create, read } = calls()
    const { club, token } = await signedIn()
    const event = await addEvent(1, {}, club)
    const url = await create(token)
    const first = await read(url)
    expect([first.status, first.headers]).toMatchObject([
      200,
      {
        'content-type': 'text/calendar; charset=utf-8',
        'cache-control': 'private, no-cache, no-transform',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
        etag: expect.stringMatching(/^"[\w-]{20}"$/),
      },
    ])
    expect(first.text).toContain('REFRESH-INTERVAL;VALUE=DURATION:PT1H')
    const etag = { 'if-none-match': first.headers.etag! }
    auth.world.advance(60)
    expect(await read(url, etag)).toMatchObject({ status: 304, text: '' })
    expect(await read(url, {}, 'HEAD')).toMatchObject({ status: 200, text: '', headers: { etag: first.headers.etag } })
    await asPlatform(auth.world).directory.events.upsert({ items: [{ id: event.id, title: 'Race' }] })
    const second = await read(url, etag)
    expect(second.status).toBe(200)
    expect(second.text).toContain('SUMMARY:Race')
    const items = [{ id: club, timeZone: 'Europe/Berlin' }]
    await asPlatform(auth.world).directory.organisations.upsert({ items })
    expect((await read(url, { 'if-none-match': second.headers.etag! })).status).toBe(200)
    expect((await read(url, {}, 'POST')).status).toBe(405)
  })

  it('is another one each time; the eleventh of a consent removes the first, also at once', async () => {
    const { create, read } = calls()
    const { token, member } = await signedIn()
    const first = await create(token)
    auth.world.advance(1)
    const others = await Promise.all(Array.from({ length: 10 }, () => create(token)))
    expect(new Set(others).size).toBe(10)
    expect((await read(first)).status).toBe(404)
    expect(new Set(await Promise.all(others.map(async (url) => (await read(url)).status)))).toEqual(new Set([200]))
    expect(await auth.world.db.calendarFeed.count({ where: { personId: member } })).toBe(10)
  })

  it('stores no secret', async () => {
    const { create } = calls()
    const { token, member } = await signedIn()
    const url = await create(token)
    const secret = url.slice(-26, -4)
    const rows = await auth.world.db.calendarFeed.findMany({ where: { personId: member } })
    expect(JSON.stringify(rows)).not.toContain(secret)
  })

  it.each<[string, (of: { member: string; club: string; grant: string }) => Promise<unknown>]>([
    ['the consent is withdrawn', ({ grant }) => update('consent', grant, { withdrawnAt: new Date() })],
    [
      "the consent's year is over",
      ({ grant }) => update('consent', grant, { createdAt: new Date(Date.now() - 366 * 86_400_000) }),
    ],
    ['the consent is removed', ({ grant }) => auth.world.db.consent.delete({ where: { id: grant } })],
    ['the membership ends', ({ member }) => setLeft(member, new Date(0))],
    [
      'the member has left and come back',
      async ({ member }) => {
        await setLeft(member, new Date(0))
        await setLeft(member, null)
      },
    ],
    ['the person is erased', ({ member }) => asPlatform(auth.world).directory.people.erase({ id: member })],
  ])('is 404 like an unknown one once %s', async (_, end) => {
    const { read } = calls()
    const { member, club, grant, url } = await newFeed()
    expect((await read(url)).status).toBe(200)
    await end({ member, club, grant })
    const unknown = await read(url.replace(/.{26}$/, 'A'.repeat(22)))
    expect(strip(await read(url))).toEqual(strip(unknown))
    expect(unknown.status).toBe(404)
  })

  it.each([
    'short.ics',
    `${'A'.repeat(22)}`,
    `${'A'.repeat(22)}.ICS`,
    `${'A'.repeat(22)}.ics/`,
    '%00.ics',
    `${'A'.repeat(21)}%2e.ics`,
    '',
  ])('is 404 for the malformed %j', async (name) => {
    const unknown = await calls().read(`http://auth.test/v1/calendar/${'A'.repeat(22)}.ics`)
    const reply = await auth.world.send('GET', `/v1/calendar/${name}`, { host: 'auth.test' })
    expect(strip(reply)).toEqual(strip(unknown))
  })

  it('is not answered at the host of an API', async () => {
    const { url } = await newFeed()
    const { status, text } = await calls().read(url.replace('auth.test', 'apps.test'))
    expect([status, text.includes('VCALENDAR')]).toEqual([404, false])
  })

  it('is dead from its start if the consent ends while it is created', async () => {
    const { read, create } = calls()
    const { member, token } = await signedIn()
    const { db } = auth.world
    // The token is still taken, from the cache.
    await create(token)
    await db.consent.updateMany({ where: { personId: member }, data: { withdrawnAt: new Date() } })
    const { id: grant } = await db.consent.findFirstOrThrow({ where: { personId: member } })
    const listFeeds = () => db.calendarFeed.findMany({ where: { consentId: grant } })
    expect(await listFeeds()).toEqual([])
    expect((await read(await create(token))).status).toBe(404)
    expect(await listFeeds()).toHaveLength(1)
    await db.consent.delete({ where: { id: grant } })
    expect(await listFeeds()).toEqual([])
  })

  it('is none where another issuer signs members in', async () => {
    const { core, ids, principal } = auth.world
    const created = callAs({ ...core, authBaseUrl: undefined }, principal()).calendar.create()
    await expect(created).rejects.toMatchObject({ status: 404 })
    expect(await auth.world.db.calendarFeed.count({ where: { personId: ids.member } })).toBe(0)
  })

  it('needs the scope, and is dead when the client loses it or its app is suspended', async () => {
    const { create, read, tokens } = calls()
    const { member, club } = await newMember()
    const other = await tokens(member, club, 'svc.me.profile:read')
    expect((await auth.world.call('POST', '/calendar', { token: other })).status).toBe(403)
    const url = await create(await tokens(member, club))
    const { db, ids } = auth.world
    const { scopes } = await db.client.findUniqueOrThrow({ where: { id: auth.client } })
    const status = async () => (await read(url)).status
    await update('client', auth.client, { scopes: ['svc.me.profile:read'] })
    expect(await status()).toBe(404)
    await update('client', auth.client, { scopes })
    expect(await status()).toBe(200)
    await update('app', ids.app, { state: 'suspended' })
    expect(await status()).toBe(404)
    await update('app', ids.app, { state: 'active' })
    expect(await status()).toBe(200)
  })
})

const readStatus = async (work: () => unknown) => {
  try {
    await work()
  } catch (error) {
    return (error as ApiError).status
  }
}
const strip = ({ status, text, headers }: { status: number; text: string; headers: object }) => {
  const { 'x-request-id': request, date: _, ...rest } = headers as Record<string, string>
  return { status, text: text.replace(request!, ''), headers: rest }
}
const update = (model: 'consent' | 'client' | 'app', key: string, data: object) =>
  (auth.world.db[model] as unknown as { update: (options: object) => Promise<unknown> }).update({
    where: { id: key },
    data,
  })
const setLeft = (personId: string, leftAt: Date | null) =>
  auth.world.db.membership.updateMany({ where: { personId }, data: { joinedAt: new Date(0), leftAt } })

describe('an event that changes', () => {
  const platform = () => asPlatform(auth.world).directory.events

  it('keeps its UID, and counts in SEQUENCE what calendars show of it', async () => {
    const { addEvent, show } = calls()
    const { club, url } = await newFeed()
    const { id: event } = await addEvent(1, {}, club)
    const [first] = (await show(url)).events
    expect(first).toMatchObject({ sequence: 0, status: 'CONFIRMED' })
    await platform().upsert({ items: [{ id: event, version: 7 }] })
    expect((await show(url)).events).toEqual([first])
    await platform().upsert({ items: [{ id: event, location: 'Lake' }] })
    await platform().upsert({ items: [{ id: event, location: 'Lake' }] })
    const [second] = (await show(url)).events
    expect(second).toMatchObject({ uid: first!.uid, sequence: 1, location: 'Lake' })
    expect(second!.modified).toBeGreaterThanOrEqual(first!.modified)
  })

  it('is CANCELLED for 30 days if it was published, and not in me/events', async () => {
    const { addEvent, create, show } = calls()
    const { club, token } = await signedIn()
    const { id: event } = await addEvent(24 * 40, {}, club)
    const { id: draft } = await addEvent(24 * 40, { state: 'draft' }, club)
    const url = await create(token)
    await platform().upsert({ items: [event, draft].map((key) => ({ id: key, state: 'cancelled' as const })) })
    expect((await show(url)).events).toMatchObject([{ status: 'CANCELLED', sequence: 1 }])
    expect((await auth.world.call('GET', '/me/events', { token })).body.items).toEqual([])
    // A correction of a cancelled event is no reason to show it for longer.
    auth.world.advance(29 * 86_400)
    await platform().upsert({ items: [{ id: event, title: 'Off' }] })
    expect((await show(url)).events).toMatchObject([{ status: 'CANCELLED', title: 'Off', sequence: 2 }])
    auth.world.advance(2 * 86_400)
    expect((await show(url)).events).toEqual([])
    await platform().upsert({ items: [{ id: event, state: 'published' }] })
    expect((await show(url)).events).toMatchObject([{ status: 'CONFIRMED', sequence: 3 }])
    auth.world.advance(-31 * 86_400)
  })
})

it("a feed shows an all-day event on the days of the club's time zone", async () => {
  const { show } = calls()
  const { club, url } = await newFeed()
  const api = asPlatform(auth.world).directory
  await api.organisations.upsert({ items: [{ id: club, timeZone: 'America/New_York' }] })
  const day = new Date(auth.world.core.now() + 86_400_000).toISOString().slice(0, 10)
  const event = {
    id: id('event'),
    club,
    title: 'Camp',
    location: '',
    state: 'published' as const,
    calendar: null,
    groups: [],
    allDay: true,
  }
  await api.events.upsert({ items: [{ ...event, start: `${day}T12:00:00Z`, end: `${day}T13:00:00Z` }] })
  const { events, timeZone, again } = await show(url)
  const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
  expect([timeZone, events, again]).toMatchObject([
    'America/New_York',
    [{ start: day, end: next }],
    [{ start: day, end: next }],
  ])
})

it.each(['+01:00', 'Europe/Wien', 'Mars/Base', ''])(
  'an organisation with the time zone %j is refused',
  async (timeZone) => {
    const { club } = await newMember()
    const merged = asPlatform(auth.world).directory.organisations.upsert({ items: [{ id: club, timeZone }] })
    await expect(merged).rejects.toMatchObject({ refused: [{ field: 'timeZone' }] })
    const row = await auth.world.db.organisation.findUniqueOrThrow({ where: { id: club } })
    expect(row.timeZone).toBe('UTC')
  },
)

describe('the limits', () => {
  const network = (last: number) => ({ 'x-forwarded-for': `198.51.100.${last}` })

  it('refuse a feed that is read too often, and no other', async () => {
    const { read } = calls()
    const { url: one, newUrl } = await newFeed()
    const other = await newUrl()
    const statuses = []
    for (let n = 0; n <= MAX_OF_FEED; n++) statuses.push((await read(one, network(1))).status)
    expect(statuses).toEqual([...Array.from({ length: MAX_OF_FEED }, () => 200), 429])
    const refused = await read(one, network(2))
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
    expect((await read(other, network(1))).status).toBe(200)
    auth.world.advance(61)
    expect((await read(one, network(1))).status).toBe(200)
  })

  it('refuse an address that reads more than the services of Google and Microsoft', async () => {
    const { core } = auth.world
    const limits = memoryLimits(() => 0)
    const taken: Limits = {
      ...limits,
      open(name, points, seconds) {
        const limit = limits.open(name, points, seconds)
        if (name === 'calendar-addresses') for (let n = 0; n < points; n++) limit.take('198.51.100.4')
        return limit
      },
    }
    const readFrom = (address: string) => {
      const of = { core, memory: new MemoryBudget(), limits: taken, authBaseUrl: 'http://auth.test/v1' }
      const ctx = { state: { path: '/v1/calendar/x.ics', host: 'auth.test' }, method: 'GET', req: {} }
      const step = calendarFeeds({ ...of, readClientAddress: () => address })
      return readStatus(() => step(ctx as unknown as StepContext, async () => {}))
    }
    expect([await readFrom('198.51.100.4'), await readFrom('198.51.100.5')]).toEqual([429, 404])
  })

  it('refuse an address that guesses, but not what it knows', async () => {
    const { read } = calls()
    const { url } = await newFeed()
    const guess = async (n: number) =>
      (await read(`http://auth.test/v1/calendar/${String(n).padStart(22, 'A')}.ics`, network(3))).status
    const statuses = []
    for (let n = 0; n <= MAX_UNKNOWN; n++) statuses.push(await guess(n))
    expect([statuses.indexOf(429), statuses.length]).toEqual([MAX_UNKNOWN, MAX_UNKNOWN + 1])
    expect((await read(url, network(3))).status).toBe(200)
  })
})
