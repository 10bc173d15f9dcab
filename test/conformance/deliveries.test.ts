import { beforeEach, describe, expect, it } from 'vitest'
import { asPlatform, mintApp, platform, refusalOf, ways } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import type { Receiver } from './delivery-tenant.ts'
import { later, mintDelivery, mintReceiver } from './delivery-tenant.ts'

const world = useWorld()

describe.each(ways)('deliveries.list, %s', (way) => {
  let api: ReturnType<typeof platform>
  let receiver: Receiver
  beforeEach(async () => {
    api = platform(world, way)
    receiver = await mintReceiver(world.db, await mintApp(world))
  })

  it('returns the outcome of each delivery', async () => {
    const { event, subscription } = receiver
    const [at, went] = [later(), { attempts: 2, lastStatus: 500, lastError: 'status 500' }]
    const pending = await mintDelivery(world.db, receiver, { nextAttemptAt: at, ...went })
    const [item] = (await api.deliveries.list({ subscription })).items
    const nextAttemptAt = Math.floor(at.getTime() / 1000)
    expect(item).toEqual({ id: pending, event, subscription, state: 'pending', ...went, nextAttemptAt })
    await world.db.delivery.update({
      where: { id: pending },
      data: { state: 'delivered', nextAttemptAt: null, lastStatus: null, lastError: null, finishedAt: new Date() },
    })
    expect((await api.deliveries.list({ subscription })).items).toEqual([
      { ...item, state: 'delivered', lastStatus: null, lastError: null, nextAttemptAt: null },
    ])
  })

  it('sorts newest first, then by id, and returns pages', async () => {
    const { subscription } = receiver
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))
    const [oldest, a, b] = [
      await mintDelivery(world.db, receiver, { createdAt: at(0) }),
      await mintDelivery(world.db, receiver, { createdAt: at(1) }),
      await mintDelivery(world.db, receiver, { createdAt: at(1) }),
    ]
    const newest = await mintDelivery(world.db, receiver, { createdAt: at(2) })
    const sorted = [newest, ...[a, b].sort(), oldest]
    const page = async (page: object = {}) => {
      const { items, total } = await api.deliveries.list({ subscription, ...page })
      return [total, ...items.map(({ id }) => id)]
    }
    expect(await page()).toEqual([4, ...sorted])
    expect(await page({ limit: 2, offset: 1 })).toEqual([4, ...sorted.slice(1, 3)])
    expect(await page({ offset: Number.MAX_SAFE_INTEGER })).toEqual([4])
  })

  it('returns 50 items by default and up to 200', async () => {
    const { app, event, subscription } = receiver
    await world.db.delivery.createMany({
      data: Array.from({ length: 210 }, () => ({
        id: id('delivery'),
        appId: app,
        eventId: event,
        subscriptionId: subscription,
        createdAt: new Date(),
        nextAttemptAt: later(),
      })),
    })
    const sizes = [await api.deliveries.list({ subscription }), await api.deliveries.list({ subscription, limit: 200 })]
    expect(sizes.map(({ items, total }) => [items.length, total])).toEqual([
      [50, 210],
      [200, 210],
    ])
  })

  it('filters by event, subscription and state', async () => {
    const { app, subscription } = receiver
    const event = id('event')
    const other = await mintReceiver(world.db, app, event)
    const [first, delivered, failed] = [
      await mintDelivery(world.db, receiver),
      await mintDelivery(world.db, receiver, { state: 'delivered' }),
      await mintDelivery(world.db, other, { state: 'failed' }),
    ]
    const found = async (filter: object) => (await api.deliveries.list(filter)).items.map(({ id }) => id).sort()
    expect(await found({ event })).toEqual([failed])
    expect(await found({ subscription })).toEqual([first, delivered].sort())
    expect(await found({ subscription, state: 'delivered' })).toEqual([delivered])
    expect(await found({ subscription: other.subscription, event, state: 'failed' })).toEqual([failed])
    expect(await found({ subscription, event })).toEqual([])
    expect(await found({ event: id('event') })).toEqual([])
    expect(await found({ subscription: id('subscription') })).toEqual([])
  })

  it('covers all apps of the provider and no others', async () => {
    const provider = id('provider')
    await world.db.organisation.create({ data: { id: provider, kind: 'provider', name: 'New' } })
    const apps = [await mintApp(world, { providerId: provider }), await mintApp(world, { providerId: provider })]
    const ids = await Promise.all(
      apps.map(async (app) => mintDelivery(world.db, await mintReceiver(world.db, app, 'same'))),
    )
    const theirs = await asPlatform(world, { organisation: provider }).deliveries.list({ event: 'same' })
    expect([theirs.total, theirs.items.map(({ id }) => id).sort()]).toEqual([2, ids.sort()])
    expect(await asPlatform(world, { organisation: provider }).deliveries.list({})).toEqual(theirs)
    expect(await api.deliveries.list({ event: 'same' })).toEqual({ items: [], total: 0 })
  })

  it.each([
    [{ limit: 0 }, 'limit is 1 to 200.'],
    [{ limit: 201 }, 'limit is 1 to 200.'],
    [{ offset: -1 }, 'offset is 0 or more.'],
    [{ state: 'lost' }, 'state is pending, delivered or failed.'],
    [{ event: 'a\0b' }, 'event is 1 to 255 visible ASCII characters.'],
    [{ subscription: '' }, 'subscription is 1 to 255 visible ASCII characters.'],
    [{ subscription: 'x'.repeat(256) }, 'subscription is 1 to 255 visible ASCII characters.'],
  ])('returns 422 for %j', async (filter, message) => {
    const refusal = await refusalOf(api.deliveries.list(filter as object))
    expect(refusal).toMatchObject({ status: 422, code: 'invalid_request', message })
  })
})

describe('a malformed provider id', () => {
  it.each(['a\0b', 'x'.repeat(256)])('has no deliveries: %j', async (organisation) => {
    const caller = asPlatform(world, { organisation })
    expect(await caller.deliveries.list({})).toEqual({ items: [], total: 0 })
  })
})
