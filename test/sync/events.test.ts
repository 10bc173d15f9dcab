import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { FeedPosition } from '../../routers/webhooks/feed/read.ts'
import { readEvents } from '../../routers/webhooks/feed/read.ts'
import { purgeEvents } from '../../server/webhooks/purge.ts'
import { mintTenants, openWith } from '../storage/tenants.ts'
import { asPlatform, mintOther } from '../support/platform.ts'
import { expectRefusal } from '../support/refusal.ts'
import type { Reply } from '../support/request.ts'
import { times } from '../support/rounds.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()
const SECRET = 'v3ry-s3cret'
const WRONG = "since is not a cursor of this app's events."
const EXPIRED = 'This cursor has expired. Begin again without since.'

let app: string
let client: string
beforeEach(async () => {
  ;({ app, client } = await mintApp())
})

async function mintApp(more: object = {}) {
  const { team: teamId, provider: providerId } = world.ids
  const [app, client] = [id('app'), id('client')]
  const clients = { create: { id: client, name: 'C', teamId, environment: 'production' as const } }
  await world.db.app.create({ data: { id: app, name: 'App', teamId, providerId, clients, ...more } })
  return { app, client }
}

const events = (query = '', claims: object = {}) =>
  world.call('GET', `/events${query}`, { claims: { client_id: client, ...claims } })
const since = ({ body }: Reply, more = '') => `?since=${body.cursor}${more}`
const publish = (event: string, data: unknown = {}) =>
  asPlatform(world).events.publish({ app, id: event, type: 't.happened', data: data as never })
const readIds = ({ body }: Reply) => body.items.map((item: { id: string }) => item.id)
/** Once so many calls wait for an event. */
const waiting = (count: number) => expect.poll(() => world.longPollSlots.size).toBe(count)

describe('GET /events', () => {
  it('returns the bytes of a delivery, signed by the secret of the webhook at the time of the response', async () => {
    const body = { url: 'https://example.org/hook', secret: SECRET }
    await world.call('PUT', `/apps/${app}/webhook`, { body, claims: { client_id: client } })
    await publish('e.1', { text: 'Größe "1"', big: 1e21 })
    const reply = await events()
    const stored = await world.db.publishedEvent.findFirstOrThrow({ where: { appId: app } })
    const [item] = reply.body.items
    const timestamp = item.headers['webhook-timestamp']
    const mac = createHmac('sha256', SECRET).update(`e.1.${timestamp}.${stored.body}`).digest('base64')
    expect(item).toEqual({
      id: 'e.1',
      type: 't.happened',
      createdAt: Math.floor(stored.publishedAt.getTime() / 1000),
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'e.1',
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${mac}`,
      },
      payload: stored.body,
    })
    expect(Math.abs(Number(timestamp) - world.now())).toBeLessThanOrEqual(300)
    expect(reply.text).not.toContain(SECRET)
  })

  it('returns events without a signature for an app without a secret, and without a webhook', async () => {
    await publish('e')
    expect((await events()).body.items[0].headers).not.toHaveProperty('webhook-signature')
  })

  it('comes in pages, continues after a cursor, and begins again without it', async () => {
    for (const event of ['a', 'b', 'c']) await publish(event)
    const first = await events('?limit=2')
    expect([readIds(first), first.body.more]).toEqual([['a', 'b'], true])
    const second = await events(since(first, '&limit=2'))
    expect([readIds(second), second.body.more]).toEqual([['c'], false])
    expect(readIds(await events(since(second)))).toEqual([])
    await publish('d')
    expect(readIds(await events(since(second)))).toEqual(['d'])
    expect(readIds(await events(since(first)))).toEqual(['c', 'd'])
    expect(readIds(await events())).toEqual(['a', 'b', 'c', 'd'])
  })

  it('has no page without end: 201 events that nobody has read yet are two', async () => {
    const rows = Array.from({ length: 201 }, (_, i) => ({
      id: `e${i}`,
      type: 't',
      body: '{}',
      publishedAt: new Date(i),
    }))
    await world.db.publishedEvent.createMany({ data: rows.map((row) => ({ appId: app, ...row })) })
    const first = await events('?limit=200')
    const second = await events(since(first, '&limit=200'))
    expect([first.body.more, second.body.more]).toEqual([true, false])
    expect([...readIds(first), ...readIds(second)]).toEqual(rows.map((row) => row.id))
  })

  it('delivers to subscribers as before', async () => {
    const subscription = { id: id('s'), appId: app, subscriber: 's', url: 'https://example.org/hook' }
    await world.db.subscription.create({ data: subscription })
    await publish('e')
    expect(readIds(await events())).toEqual(['e'])
    expect(await world.db.delivery.findMany({ where: { appId: app } })).toMatchObject([{ state: 'pending' }])
  })

  it('returns the events of the app of the client alone, and refuses cursors of another, altered and invented ones', async () => {
    await publish('mine')
    const { cursor } = (await events()).body
    const other = await mintApp()
    expect(readIds(await events('', { client_id: other.client }))).toEqual([])
    for (const [query, claims] of [
      [`?since=${cursor}`, { client_id: other.client }],
      [`?since=${cursor.slice(1)}`, {}],
      ['?since=-1', {}],
      ['?since=MQ', {}],
      [`?since=${'x'.repeat(501)}`, {}],
    ] as const) {
      expectRefusal(await events(query, claims), 400, 'invalid_request', WRONG)
    }
  })

  it('is 404 for the app of another provider, 403 without an app, and 409 while the app is suspended', async () => {
    await publish('e')
    const { provider } = await mintOther(world)
    await world.db.membership.create({ data: { organisationId: provider, personId: world.ids.member } })
    const unknown = 'This app does not exist at this provider.'
    expectRefusal(await events('', { organisation: provider }), 404, 'not_found', unknown)
    const noApp = id('client')
    const data = { id: noApp, name: 'C', teamId: world.ids.team, environment: 'production' as const }
    await world.db.client.create({ data })
    expectRefusal(await events('', { client_id: noApp }), 403, 'missing_scope', 'This client is not a the service app.')
    const suspended = await mintApp({ state: 'suspended' })
    const reply = await events('', { client_id: suspended.client })
    expectRefusal(reply, 409, 'conflict', 'This app is suspended.', 'app_suspended')
  })
})

describe('a cursor', () => {
  const DAY_MS = 86_400_000
  const publishAt = (event: string, days: number) =>
    world.db.publishedEvent.create({
      data: { appId: app, id: event, type: 't', body: '{}', publishedAt: new Date(world.core.now() - days * DAY_MS) },
    })
  const purge = () => purgeEvents(world.db, world.core.now(), { keepDays: 3_000 })

  it('is 410 once an event after it was removed, read before or not, and valid while all after it are stored', async () => {
    const start = await events()
    await publishAt('old', 3_001)
    const old = await events()
    await publishAt('new', 1)
    await purge()
    expect(readIds(await events(since(old)))).toEqual(['new'])
    const both = await events()
    expect(readIds(both)).toEqual(['new'])
    await publishAt('unread', 3_001)
    await purge()
    for (const reply of [start, old, both]) {
      expectRefusal(await events(since(reply)), 410, 'cursor_expired', EXPIRED)
    }
    expect(readIds(await events(since(await events())))).toEqual([])
  })

  it('of a beginning is valid among events that wait for a receiver although later ones were removed', async () => {
    const subscription = { id: id('s'), appId: app, subscriber: 's', url: null }
    await world.db.subscription.create({ data: subscription })
    const later = new Date(world.core.now() + 100 * DAY_MS)
    for (const eventId of ['a', 'b', 'c']) {
      await publishAt(eventId, 3_002)
      const times = { createdAt: later, nextAttemptAt: later }
      await world.db.delivery.create({
        data: { id: id('d'), appId: app, eventId, subscriptionId: subscription.id, ...times },
      })
    }
    await publishAt('gone', 3_001)
    const former = await events('?limit=1')
    await publishAt('new', 1)
    await purge()
    expectRefusal(await events(since(former)), 410, 'cursor_expired', EXPIRED)
    const first = await events('?limit=2')
    const second = await events(since(first, '&limit=1'))
    const third = await events(since(second))
    expect([first, second, third].map(readIds)).toEqual([['a', 'b'], ['c'], ['new']])
    expect(third.body.more).toBe(false)
    await publishAt('unread', 3_001)
    await purge()
    expectRefusal(await events(since(second)), 410, 'cursor_expired', EXPIRED)
  })

  it('is valid when an event was erased that names a person', async () => {
    await publish('a')
    const first = await events()
    await publish('b')
    await events()
    await world.db.publishedEvent.deleteMany({ where: { appId: app, id: 'b' } })
    await publish('c')
    expect(readIds(await events(since(first)))).toEqual(['c'])
  })

  it('is 410 when it is ahead of the feed, as after a restore', async () => {
    await publish('a')
    const first = await events()
    await world.db.eventFeed.update({ where: { appId: app }, data: { last: 0 } })
    expectRefusal(await events(since(first)), 410, 'cursor_expired', EXPIRED)
  })

  it('is 410 after the statement of docs/backups.md, and the events begin again, page by page', async () => {
    for (const event of ['a', 'b']) await publish(event)
    const first = await events()
    const docs = readFileSync(new URL('../../docs/backups.md', import.meta.url), 'utf8')
    const [, statement] = /`(UPDATE "EventFeed"[^`]+)`/.exec(docs)!
    await world.db.$executeRawUnsafe(`${statement} WHERE "appId" = $1`, app)
    expectRefusal(await events(since(first)), 410, 'cursor_expired', EXPIRED)
    const again = await events('?limit=1')
    expect([again, await events(since(again))].map(readIds)).toEqual([['a'], ['b']])
  })
})

describe('a request that waits for an event', () => {
  it('returns the next one at once, and sleeps through those of others', async () => {
    const first = await events()
    const reply = events(since(first, '&wait=50'))
    await waiting(1)
    const other = await mintApp()
    await asPlatform(world).events.publish({ app: other.app, id: 'other', type: 't', data: 1 })
    await publish('e')
    expect(readIds(await reply)).toEqual(['e'])
  })

  it('returns one that another node has published', async () => {
    const reply = events(since(await events(), '&wait=50'))
    await waiting(1)
    await world.db.publishedEvent.create({
      data: { appId: app, id: 'e', type: 't', body: '{}', publishedAt: new Date() },
    })
    expect(readIds(await reply)).toEqual(['e'])
  })

  it('returns an empty page when the time is over', async () => {
    expect((await events('?wait=1')).body).toMatchObject({ items: [], more: false })
  })

  it.each(['-1', '51', '1.5', 'x', ''])('is refused for %j seconds', async (wait) => {
    expectRefusal(await events(`?wait=${wait}`), 422, 'invalid_request', 'wait is 0 to 50 seconds.')
  })

  it('is refused when its app is suspended meanwhile', async () => {
    const reply = events('?wait=50')
    await waiting(1)
    await world.db.app.update({ where: { id: app }, data: { state: 'suspended' } })
    // What has been looked up is believed for 4 s.
    world.advance(5)
    await world.db.publishedEvent.create({
      data: { appId: app, id: 'e', type: 't', body: '{}', publishedAt: new Date() },
    })
    expectRefusal(await reply, 409, 'conflict', 'This app is suspended.', 'app_suspended')
  })
})

/** As of two nodes. */
const pools = [openWith({}), openWith({})] as const
afterAll(() => Promise.all(pools.map((db) => db.$disconnect())))

const PUBLISHERS = 8
const EACH = times(60, 12)

it('readers that page while eight publish on two nodes miss and repeat no event, and agree on the order', async () => {
  const { apps } = await mintTenants(pools[0])
  const row = (event: string) => ({ appId: apps[0], id: event, type: 't', body: `"${event}"`, publishedAt: new Date() })
  let publishing = PUBLISHERS

  /** Every second event is stored before another one, and committed after it. */
  async function publisher(number: number) {
    const [own, other] = [pools[number % 2]!, pools[(number + 1) % 2]!]
    for (let i = 0; i < EACH; i++) {
      const [late, early] = [id('late'), id('early')]
      await own.$transaction(async (tx) => {
        await tx.publishedEvent.create({ data: row(late) })
        await other.publishedEvent.create({ data: row(early) })
      })
    }
    publishing--
  }

  async function reader(number: number) {
    const seen: string[] = []
    for (let since: FeedPosition | undefined; ; ) {
      const ended = publishing === 0
      const page = await readEvents(pools[number % 2]!, apps[0], { since, limit: 1 + number }, async () => {})
      seen.push(...page.events.map((event) => event.id))
      since = page.next
      if (ended && !page.more) break
    }
    return seen
  }

  const readers = [0, 1, 2, 30].map(reader)
  await Promise.all(Array.from({ length: PUBLISHERS }, (_, number) => publisher(number)))
  const seen = await Promise.all(readers)
  const stored = await pools[0].publishedEvent.findMany({ where: { appId: apps[0] }, orderBy: { number: 'asc' } })
  expect(stored).toHaveLength(PUBLISHERS * EACH * 2)
  for (const one of seen) expect(one).toEqual(stored.map((event) => event.id))
})
