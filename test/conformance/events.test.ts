import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Published } from '../../routers/kernel/context.ts'
import type { Json } from '../../routers/kernel/json.ts'
import { asPlatform, mintApp, mintOther, platform, platformClient, readRefusal, ways } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()
const announced: Published[] = []
beforeAll(async () => {
  world.core.published = (event) => void announced.push(event)
})

const NO_APP = { status: 404, code: 'not_found', message: 'This app does not exist at this provider.' }
const SUSPENDED = { status: 409, code: 'conflict', reason: 'app_suspended', message: 'This app is suspended.' }
const TYPE = "type must be 1 to 128 letters, digits, '.', '_' or '-'."
const ID = 'id must be 1 to 255 visible ASCII characters.'
const APP = "app must be 1 to 64 letters, digits, '_' or '-'."
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const LIMIT = 256 * 1024

const listEvents = (app: string) => world.db.publishedEvent.findMany({ where: { appId: app }, orderBy: { id: 'asc' } })
const listDeliveries = (app: string) => world.db.delivery.findMany({ where: { appId: app } })
const listAnnounced = (app: string) => announced.filter((event) => event.app === app)

/** Creates four subscriptions; only `a` and `b` receive events. */
async function mintSubscriptions(app: string) {
  const subscriptions = { a: {}, b: {}, ended: { endedAt: new Date() }, mute: { url: null } }
  const ids = Object.fromEntries(Object.keys(subscriptions).map((name) => [name, id(name)])) as Record<
    keyof typeof subscriptions,
    string
  >
  await world.db.subscription.createMany({
    data: Object.entries(subscriptions).map(([name, more]) => ({
      id: ids[name as keyof typeof subscriptions],
      appId: app,
      subscriber: name,
      url: 'https://hooks.example.org',
      ...more,
    })),
  })
  return ids
}

describe.each(ways)('%s', (way) => {
  let api: ReturnType<typeof platform>
  let app: string
  beforeEach(async () => {
    api = platform(world, way)
    app = await mintApp(world)
  })
  const publish = (more: Record<string, unknown> = {}) =>
    api.events.publish({ app, type: 'member.joined', data: { a: [1, null] }, ...more })

  describe('events.publish', () => {
    it('creates a due delivery for each active subscription with a url', async () => {
      const { a, b } = await mintSubscriptions(app)
      await mintSubscriptions(await mintApp(world))
      const before = world.core.now()
      expect(await publish({ id: 'e-1' })).toEqual({ id: 'e-1', deliveries: 2 })

      const [event, ...others] = await listEvents(app)
      expect(others).toEqual([])
      expect(event).toMatchObject({ id: 'e-1', type: 'member.joined' })
      const at = event!.publishedAt
      expect(at.getTime()).toBeGreaterThanOrEqual(before)
      expect(at.getTime()).toBeLessThanOrEqual(world.core.now())

      const rows = await listDeliveries(app)
      expect(rows.map((row) => row.subscriptionId).sort()).toEqual([a, b].sort())
      for (const row of rows) {
        expect(row.id).toMatch(UUID)
        expect(row).toMatchObject({ eventId: 'e-1', state: 'pending', attempts: 0, lease: null, lastStatus: null })
        expect([row.nextAttemptAt, row.createdAt, row.finishedAt]).toEqual([at, at, null])
      }
      expect(listAnnounced(app)).toEqual([{ app, event: 'e-1', deliveries: expect.any(Array) }])
      expect([...listAnnounced(app)[0]!.deliveries].sort()).toEqual(rows.map((row) => row.id).sort())
    })

    it('stores the body with id, type, timestamp and data', async () => {
      await publish({ id: 'e-1' })
      const [event] = await listEvents(app)
      const timestamp = event!.publishedAt.toISOString()
      expect(event!.body).toBe(`{"id":"e-1","type":"member.joined","timestamp":"${timestamp}","data":{"a":[1,null]}}`)
    })

    it('creates a UUID without an id, and accepts an app without subscriptions', async () => {
      const [one, other] = [await publish(), await publish()]
      expect(one).toEqual({ id: expect.stringMatching(UUID), deliveries: 0 })
      expect(other.id).not.toBe(one.id)
      expect((await listEvents(app)).map(({ id }) => id)).toEqual([one.id, other.id].sort())
      expect(listAnnounced(app).map(({ event, deliveries }) => [event, deliveries])).toEqual([
        [one.id, []],
        [other.id, []],
      ])
    })

    it.each([null, false, 0, '', 'text', [], {}, 'a\0b', '\ud800', { 'ä"\\': [1.5, -1e-7] }, nested(256)])(
      'accepts the data %j',
      async (data) => {
        await publish({ data })
        const [event] = await listEvents(app)
        expect(JSON.parse(event!.body).data).toEqual(data)
      },
    )

    it.each(['!', '"\\', 'x'.repeat(255), '__proto__', 'a/b?c'])('accepts the id %j', async (id) => {
      expect(await publish({ id })).toMatchObject({ id })
      const [event] = await listEvents(app)
      expect([event!.id, JSON.parse(event!.body).id]).toEqual([id, id])
    })

    it.each(['a', 'A.b_c-9', 'x'.repeat(128)])('accepts the type %s', async (type) => {
      await publish({ type })
      const [event] = await listEvents(app)
      expect([event!.type, JSON.parse(event!.body).type]).toEqual([type, type])
    })

    it('accepts a body of 256 KiB, counted in bytes, and no more', async () => {
      await publish({ id: 'e-1', data: '' })
      const [event] = await listEvents(app)
      const free = LIMIT - Buffer.byteLength(event!.body)
      expect(await publish({ id: 'e-2', data: 'ä'.repeat(free / 2) + 'x'.repeat(free % 2) })).toMatchObject({
        id: 'e-2',
      })
      const larger = await readRefusal(publish({ id: 'e-3', data: 'ä'.repeat(free / 2) + 'x'.repeat((free % 2) + 1) }))
      expect(larger).toMatchObject({
        status: 400,
        code: 'invalid_request',
        message: 'The event is larger than 256 KiB.',
      })
      const stored = await listEvents(app)
      expect(stored.map(({ body }) => Buffer.byteLength(body))).toEqual([LIMIT - free, LIMIT])
    })
  })

  describe('events.publish with a known id', () => {
    it('publishes nothing and returns the current number of deliveries', async () => {
      const { a } = await mintSubscriptions(app)
      await publish({ id: 'twice' })
      const before = [await listEvents(app), await listDeliveries(app)]
      await mintSubscriptions(app)
      expect(await publish({ id: 'twice', type: 'other', data: 'other' })).toEqual({ id: 'twice', deliveries: 2 })
      expect([await listEvents(app), await listDeliveries(app)]).toEqual(before)
      expect(listAnnounced(app)).toHaveLength(1)
      await api.subscriptions.remove({ id: a })
      expect(await publish({ id: 'twice' })).toEqual({ id: 'twice', deliveries: 1 })
    })

    it('publishes when the app is another', async () => {
      const other = await mintApp(world)
      await mintSubscriptions(other)
      expect(await publish({ id: 'both' })).toEqual({ id: 'both', deliveries: 0 })
      expect(await publish({ id: 'both', app: other })).toEqual({ id: 'both', deliveries: 2 })
      expect([await listEvents(app), await listEvents(other)].map((events) => events.length)).toEqual([1, 1])
    })

    it('publishes once for 20 concurrent calls', async () => {
      await mintSubscriptions(app)
      const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => publish({ id: 'same', data: n })))
      expect(answers).toEqual(Array(20).fill({ id: 'same', deliveries: 2 }))
      expect([await listEvents(app), await listDeliveries(app)].map(({ length }) => length)).toEqual([1, 2])
      expect(listAnnounced(app)).toHaveLength(1)
    })
  })

  describe('a refused event', () => {
    const wrong: [string, Record<string, unknown>, string][] = [
      ...['', 'x'.repeat(129), 'a b', 'ä', 'a/b', 'a\0', 'a\n', 7, null].map(wrongly(TYPE, 'type')),
      ...['', 'x'.repeat(256), 'a b', 'ä', 'a\0b', 'a\n', 7, null].map(wrongly(ID, 'id')),
      ...['', 'a.b', 'a\0b', 'x'.repeat(65), 7, undefined].map(wrongly(APP, 'app')),
      ['no data', { data: undefined }, 'data is missing.'],
      ['data of 257 levels', { data: nested(257) }, 'data is nested too deeply.'],
    ]
    it.each(wrong)('returns 400 for %s', async (_, more, message) => {
      expect(await readRefusal(publish(more))).toEqual({
        status: 400,
        code: 'invalid_request',
        reason: undefined,
        message,
      })
      expect(await listEvents(app)).toEqual([])
    })

    it('returns 404 for an app that is unknown or of another provider', async () => {
      const other = await mintOther(world)
      await mintSubscriptions(other.app)
      for (const app of [id('app'), other.app]) expect(await readRefusal(publish({ app }))).toMatchObject(NO_APP)
      await asPlatform(world, { organisation: other.provider }).events.publish({
        app: other.app,
        type: 't',
        data: 1,
        id: 'e',
      })
      expect(await readRefusal(publish({ app: other.app, id: 'e' }))).toMatchObject(NO_APP)
      expect(await listEvents(other.app)).toHaveLength(1)
    })

    it('returns 409 for a suspended app, even with a known id', async () => {
      await mintSubscriptions(app)
      await publish({ id: 'before' })
      await world.db.app.update({ where: { id: app }, data: { state: 'suspended' } })
      for (const id of ['before', 'after']) expect(await readRefusal(publish({ id }))).toMatchObject(SUSPENDED)
      expect((await listEvents(app)).map(({ id }) => id)).toEqual(['before'])
      expect(listAnnounced(app)).toHaveLength(1)
    })
  })
})

describe('events.publish in process', () => {
  it.each([[{ note: undefined, at: new Date(0) }], [[Number.NaN, undefined]], [new Map()]])(
    'sends what is sent over HTTP: %s',
    async (data) => {
      const bodies: string[] = []
      for (const caller of [asPlatform(world).events.publish, platformClient(world).events.publish.mutate]) {
        const app = await mintApp(world)
        await caller({ app, type: 't', data: data as unknown as Json, id: 'same' })
        const [event] = await listEvents(app)
        bodies.push(JSON.stringify(JSON.parse(event!.body).data))
      }
      expect(bodies).toEqual([JSON.stringify(data), JSON.stringify(data)])
    },
  )

  it.each([
    [1n, 'data contains something that JSON cannot represent.'],
    [() => 1, 'data is missing.'],
  ])('returns 400 for data that JSON.stringify fails on or drops: %s', async (data, message) => {
    const app = await mintApp(world)
    const refusal = await readRefusal(
      asPlatform(world).events.publish({ app, type: 't', data: data as unknown as Json }),
    )
    expect(refusal).toMatchObject({ status: 400, message })
    expect(await listEvents(app)).toEqual([])
  })
})

describe('a malformed provider id', () => {
  it.each(['a\0b', 'x'.repeat(256), '\ud800'])('has no apps: %j', async (organisation) => {
    const app = await mintApp(world)
    const caller = asPlatform(world, { organisation })
    expect(await readRefusal(caller.events.publish({ app, type: 't', data: 1 }))).toMatchObject(NO_APP)
    expect(await listEvents(app)).toEqual([])
  })
})

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)]
}

function wrongly(message: string, name: string) {
  return (value: unknown): [string, Record<string, unknown>, string] => [
    `${name} ${JSON.stringify(value)?.slice(0, 20)}`,
    { [name]: value },
    message,
  ]
}
