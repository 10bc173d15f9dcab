import { beforeEach, describe, expect, it } from 'vitest'
import { eventTypes } from '../../routers/webhooks/event-types.ts'
import { mintTeam } from '../developer/team.ts'
import { asPlatform, platform, readRefusal, ways } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()
beforeEach(() => world.db.eventKind.deleteMany({ where: { providerId: world.ids.provider } }))

const joined = { type: 'member.joined', description: 'Somebody has joined.', example: { member: 'anna', n: [1, null] } }
const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
const DESCRIPTION = 'description must be 1 to 500 characters without control characters.'
const TYPE = "type must be 1 to 128 letters, digits, '.', '_' or '-'."

describe.each(ways)('%s', (way) => {
  let api: ReturnType<typeof platform>['events']
  const rows = () =>
    world.db.eventKind.findMany({ where: { providerId: world.ids.provider }, orderBy: { type: 'asc' } })
  beforeEach(() => {
    api = platform(world, way).events
  })

  it('events.describe puts a kind into the catalogue, after those of the service, by type', async () => {
    expect(await api.kinds()).toEqual({ items: [...eventTypes] })
    expect(await api.describe(joined)).toEqual(joined)
    const earlier = { ...joined, type: 'member.Ended', example: null }
    await api.describe(earlier)
    expect(await api.kinds()).toEqual({ items: [...eventTypes, earlier, joined] })
  })

  it('events.describe again replaces what was said', async () => {
    await api.describe(joined)
    const changed = { ...joined, description: 'Zoë «joins» 👋.', example: 'text' }
    expect(await api.describe(changed)).toEqual(changed)
    expect(await api.kinds()).toEqual({ items: [...eventTypes, changed] })
  })

  it('events.undescribe takes a kind out, also one that is not there', async () => {
    await api.describe(joined)
    expect(await api.undescribe({ type: 'member.moved' })).toEqual({ type: 'member.moved' })
    expect(await rows()).toHaveLength(1)
    expect(await api.undescribe({ type: joined.type })).toEqual({ type: joined.type })
    expect(await rows()).toEqual([])
  })

  it.each([
    ['type', { type: 'member joined' }, TYPE],
    ['type', { type: '' }, TYPE],
    ['type', { type: 'x'.repeat(129) }, TYPE],
    ['type', { type: 'webhook.test' }, "type is one of the service's own kinds."],
    ['description', { description: '' }, DESCRIPTION],
    ['description', { description: 'x'.repeat(501) }, DESCRIPTION],
    ['description', { description: 'a\nb' }, DESCRIPTION],
    ['description', { description: 'a\0b' }, DESCRIPTION],
    ['example', { example: undefined }, 'example is missing.'],
    ['example', { example: 'x'.repeat(4095) }, 'example is larger than 4 KiB.'],
    ['example', { example: nested(257) }, 'example is nested too deeply.'],
  ])('events.describe refuses a wrong %s, and changes nothing: %o', async (_, wrong, message) => {
    await api.describe(joined)
    const before = await rows()
    expect(await readRefusal(api.describe({ ...joined, ...wrong } as typeof joined))).toMatchObject({
      status: 400,
      message,
    })
    expect(await rows()).toEqual(before)
  })

  it('events.describe takes the largest of everything', async () => {
    const largest = { type: 'x'.repeat(128), description: 'ü'.repeat(500), example: 'x'.repeat(4094) }
    expect(await api.describe(largest)).toEqual(largest)
    await api.describe({ ...joined, example: nested(256) })
    expect((await rows()).length).toBe(2)
  })

  it('refuses kind 101 of a provider, and still replaces the others', async () => {
    const { provider: providerId } = world.ids
    const data = Array.from({ length: 99 }, (_, n) => ({ providerId, type: `t${n}`, description: 'd', example: {} }))
    await world.db.eventKind.createMany({ data })
    const two = await Promise.allSettled(['a', 'b'].map((type) => api.describe({ ...joined, type })))
    expect(two.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(await readRefusal(api.describe(joined))).toMatchObject({ status: 409, reason: 'too_many_event_kinds' })
    expect(await rows()).toHaveLength(100)
    await api.describe({ ...joined, type: 't5' })
    expect(await rows()).toHaveLength(100)
  })

  it('serves bytes that JSON allows and a text column would not', async () => {
    const example = { nul: '\u0000', surrogate: '\ud800', proto: JSON.parse('{"__proto__":1}') }
    await api.describe({ ...joined, example })
    expect((await api.kinds()).items.at(-1)!.example).toEqual(example)
  })
})

it('events.describe answers 404 for a token of no provider', async () => {
  for (const organisation of [world.ids.club, id('none'), 'a\0b']) {
    const { events } = asPlatform(world, { organisation })
    expect(await readRefusal(events.describe(joined))).toMatchObject({ status: 404 })
    expect(await world.db.eventKind.count({ where: { providerId: organisation.replace('\0', '') } })).toBe(0)
  }
})

it('the kinds of another provider are not shown, replaced or removed', async () => {
  const other = id('provider')
  await world.db.organisation.create({ data: { id: other, kind: 'provider', name: 'Other' } })
  const { events } = asPlatform(world, { organisation: other })
  await asPlatform(world).events.describe(joined)
  expect(await events.kinds()).toEqual({ items: [...eventTypes] })
  await events.describe({ ...joined, description: 'Ours.' })
  await events.undescribe({ type: joined.type })
  expect((await asPlatform(world).events.kinds()).items).toContainEqual(joined)
})

describe('a team', () => {
  it('sees the kinds of its app’s provider, and sends the example of one as a test event', async () => {
    const { app, api } = await mintTeam(world)
    await api.webhook.set({ app, url: 'https://hooks.example.org/in' })
    await asPlatform(world).events.describe({ ...joined, example: { nul: '\u0000', n: 1 } })
    expect((await api.webhook.kinds({ app })).items.map(({ type }) => type)).toEqual([
      ...eventTypes.map(({ type }) => type),
      'member.joined',
    ])
    const { delivery } = await api.webhook.test({ app, type: 'member.joined' })
    const { event } = await world.db.delivery.findUniqueOrThrow({ where: { id: delivery }, include: { event: true } })
    expect(event.type).toBe('member.joined')
    expect(event.body).toMatch(/,"data":\{"nul":"\\u0000","n":1\}\}$/)
  })

  it('cannot send a kind of another provider, or see those of another team’s app', async () => {
    const { app, api } = await mintTeam(world)
    await api.webhook.set({ app, url: 'https://hooks.example.org/in' })
    const other = id('provider')
    await world.db.organisation.create({ data: { id: other, kind: 'provider', name: 'Other' } })
    await asPlatform(world, { organisation: other }).events.describe({ ...joined, type: 'other.kind' })
    expect(await readRefusal(api.webhook.test({ app, type: 'other.kind' }))).toMatchObject({
      status: 400,
      message: 'type is not in the event catalogue.',
    })
    expect(await world.db.publishedEvent.count({ where: { appId: app } })).toBe(0)
    expect(await readRefusal(api.webhook.kinds({ app: world.ids.app }))).toMatchObject({ status: 404 })
  })
})
