import { beforeEach, describe, expect, it } from 'vitest'
import { toUnix } from '../../routers/kernel/time.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp, mintOther, platform, readRefusal, ways } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
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

  it('counts up to 10,001, and pages beyond', async () => {
    const { subscription } = receiver
    const delivery = await mintDelivery(world.db, receiver)
    await world.db.$executeRaw`
      INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", state, "createdAt", "nextAttemptAt")
        SELECT id || '-' || n, "appId", "eventId", "subscriptionId", state, "createdAt", "nextAttemptAt"
        FROM "Delivery" CROSS JOIN generate_series(2, 10010) n WHERE id = ${delivery}`
    const { items, total } = await api.deliveries.list({ subscription, offset: 10_005 })
    expect([items.length, total]).toEqual([5, 10_001])
    await world.db.delivery.deleteMany({
      where: { id: { in: (await api.deliveries.list({ subscription, limit: 10 })).items.map(({ id }) => id) } },
    })
    expect((await api.deliveries.list({ subscription })).total).toBe(10_000)
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
    const refusal = await readRefusal(api.deliveries.list(filter as object))
    expect(refusal).toMatchObject({ status: 422, code: 'invalid_request', message })
  })
})

describe('a malformed provider id', () => {
  it.each(['a\0b', 'x'.repeat(256)])('has no deliveries: %j', async (organisation) => {
    const caller = asPlatform(world, { organisation })
    expect(await caller.deliveries.list({})).toEqual({ items: [], total: 0 })
  })
})

const NONE = { status: 404, code: 'not_found', message: 'This delivery does not exist at this provider.' }
const DELIVERED = {
  status: 409,
  code: 'conflict',
  reason: 'already_delivered',
  message: 'This delivery has already succeeded.',
}
const ENDED = {
  status: 409,
  code: 'conflict',
  reason: 'subscription_ended',
  message: 'This subscription has ended.',
}

/** Before the others of its subscription, also while that backs off. */
const AT_ONCE = new Date(0)

const readRow = (id: string) => world.db.delivery.findUniqueOrThrow({ where: { id } })

describe.each(ways)('deliveries.retry, %s', (way) => {
  let api: ReturnType<typeof platform>
  let receiver: Receiver
  beforeEach(async () => {
    api = platform(world, way)
    receiver = await mintReceiver(world.db, await mintApp(world))
  })

  it('resets a failed delivery to pending with all its attempts', async () => {
    const went = { lastStatus: 500, lastError: 'status 500' }
    const left = { lease: 'worker 1', leasedUntil: later() }
    const failed = await mintDelivery(world.db, receiver, { state: 'failed', attempts: 8, ...went, ...left })
    const before = await readRow(failed)
    const item = await reportingDue(world.core, () => api.deliveries.retry({ id: failed }))
    const { nextAttemptAt, ...row } = await readRow(failed)
    expect(row).toMatchObject({ state: 'pending', attempts: 0, ...went })
    expect([row.finishedAt, row.lease, row.createdAt]).toEqual([null, null, before.createdAt])
    expect(nextAttemptAt).toEqual(AT_ONCE)
    expect(item).toEqual((await api.deliveries.list({ subscription: receiver.subscription })).items[0])
  })

  it('makes a pending delivery due now and keeps its attempts', async () => {
    const pending = await mintDelivery(world.db, receiver, { attempts: 3 })
    const { createdAt } = await readRow(pending)
    const { attempts, nextAttemptAt, lastStatus, lastError } = await api.deliveries.retry({ id: pending })
    expect([attempts, lastStatus, lastError]).toEqual([3, null, null])
    expect(nextAttemptAt).toBe(toUnix(createdAt))
    expect((await readRow(pending)).nextAttemptAt).toEqual(AT_ONCE)
    world.advance(60)
    await api.deliveries.retry({ id: pending })
    expect((await readRow(pending)).nextAttemptAt).toEqual(AT_ONCE)
  })

  it('leaves the lease of a running attempt', async () => {
    const leasedUntil = later()
    const leased = await mintDelivery(world.db, receiver, { lease: 'worker 1', leasedUntil })
    await api.deliveries.retry({ id: leased })
    expect(await readRow(leased)).toMatchObject({ state: 'pending', lease: 'worker 1', leasedUntil })
  })

  it('returns 409 for a delivered delivery', async () => {
    const delivered = await mintDelivery(world.db, receiver, { state: 'delivered', attempts: 1, lastStatus: 204 })
    const before = await readRow(delivered)
    expect(await readRefusal(api.deliveries.retry({ id: delivered }))).toEqual(DELIVERED)
    await world.db.subscription.update({ where: { id: receiver.subscription }, data: { endedAt: new Date() } })
    expect(await readRefusal(api.deliveries.retry({ id: delivered }))).toEqual(DELIVERED)
    expect(await readRow(delivered)).toEqual(before)
  })

  it('returns 409 when the subscription has ended', async () => {
    const states = ['failed', 'pending'] as const
    const ids = await Promise.all(states.map((state) => mintDelivery(world.db, receiver, { state })))
    await world.db.subscription.update({ where: { id: receiver.subscription }, data: { endedAt: new Date() } })
    for (const id of ids) {
      const before = await readRow(id)
      expect(await readRefusal(api.deliveries.retry({ id }))).toEqual(ENDED)
      expect(await readRow(id)).toEqual(before)
    }
  })

  it.each(['', 'unknown', 'a\0b', 'x'.repeat(256)])('returns 404 for the unknown id %j', async (id) => {
    expect(await readRefusal(api.deliveries.retry({ id }))).toMatchObject(NONE)
  })

  it('returns 404 for a delivery of another provider', async () => {
    const theirs = await mintReceiver(world.db, (await mintOther(world)).app)
    for (const state of ['failed', 'delivered'] as const) {
      const delivery = await mintDelivery(world.db, theirs, { state })
      const before = await readRow(delivery)
      expect(await readRefusal(api.deliveries.retry({ id: delivery }))).toMatchObject(NONE)
      expect(await readRow(delivery)).toEqual(before)
    }
  })
})

describe('deliveries.retry while a worker writes the result', () => {
  const done = { nextAttemptAt: null, lease: null, leasedUntil: null, finishedAt: new Date() }
  let receiver: Receiver
  let leased: string
  beforeEach(async () => {
    receiver = await mintReceiver(world.db, await mintApp(world))
    leased = await mintDelivery(world.db, receiver, { attempts: 7, lease: 'worker 1', leasedUntil: later() })
  })
  const retry = () => asPlatform(world).deliveries.retry({ id: leased })

  it('returns 409 when the delivery has been delivered', async () => {
    const write = { ...done, state: 'delivered' as const, attempts: 8, lastStatus: 204 }
    const refused = meanwhile(
      world.db,
      (tx) => tx.delivery.update({ where: { id: leased }, data: write }),
      () => readRefusal(retry()),
    )
    expect(await refused).toEqual(DELIVERED)
    expect(await readRow(leased)).toMatchObject(write)
  })

  it('starts over when the delivery has failed', async () => {
    const write = { ...done, state: 'failed' as const, attempts: 8, lastStatus: 500 }
    const item = await meanwhile(world.db, (tx) => tx.delivery.update({ where: { id: leased }, data: write }), retry)
    expect(item).toMatchObject({ id: leased, state: 'pending', attempts: 0, lastStatus: 500 })
    expect(await readRow(leased)).toMatchObject({ state: 'pending', attempts: 0, finishedAt: null, lease: null })
  })

  it('returns 409 when the subscription has ended', async () => {
    const refused = meanwhile(
      world.db,
      async (tx) => {
        await tx.subscription.update({ where: { id: receiver.subscription }, data: { endedAt: new Date() } })
        await tx.delivery.update({ where: { id: leased }, data: { ...done, state: 'failed' } })
      },
      () => readRefusal(retry()),
    )
    expect(await refused).toEqual(ENDED)
    expect(await readRow(leased)).toMatchObject({ state: 'failed', nextAttemptAt: null })
  })

  it('is repeated after a deadlock', async () => {
    const receiver = await mintReceiver(world.db, await mintApp(world))
    const pending = await mintDelivery(world.db, receiver)
    const refused = meanwhile(
      world.db,
      (tx) => tx.delivery.update({ where: { id: pending }, data: { lastError: 'gone' } }),
      () => readRefusal(asPlatform(world).deliveries.retry({ id: pending })),
      {
        goOn: (tx) => tx.subscription.update({ where: { id: receiver.subscription }, data: { endedAt: new Date() } }),
      },
    )
    expect(await refused).toEqual(ENDED)
  })

  it('returns 404 when the subscription is removed', async () => {
    const refused = meanwhile(
      world.db,
      (tx) => tx.subscription.delete({ where: { id: receiver.subscription } }),
      () => readRefusal(retry()),
    )
    expect(await refused).toMatchObject(NONE)
  })
})
