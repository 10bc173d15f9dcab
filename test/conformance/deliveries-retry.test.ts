import { beforeEach, describe, expect, it } from 'vitest'
import { toUnix } from '../../routers/kernel/time.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp, mintOther, platform, refusalOf, ways } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import { useWorld } from '../support/started.ts'
import type { Receiver } from './delivery-tenant.ts'
import { later, mintDelivery, mintReceiver } from './delivery-tenant.ts'

const world = useWorld()

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

const rowOf = (id: string) => world.db.delivery.findUniqueOrThrow({ where: { id } })

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
    const before = await rowOf(failed)
    const item = await reportingDue(world.core, () => api.deliveries.retry({ id: failed }))
    const { nextAttemptAt, ...row } = await rowOf(failed)
    expect(row).toMatchObject({ state: 'pending', attempts: 0, ...went })
    expect([row.finishedAt, row.lease, row.createdAt]).toEqual([null, null, before.createdAt])
    expect(nextAttemptAt).toEqual(AT_ONCE)
    expect(item).toEqual((await api.deliveries.list({ subscription: receiver.subscription })).items[0])
  })

  it('makes a pending delivery due now and keeps its attempts', async () => {
    const pending = await mintDelivery(world.db, receiver, { attempts: 3 })
    const { createdAt } = await rowOf(pending)
    const { attempts, nextAttemptAt, lastStatus, lastError } = await api.deliveries.retry({ id: pending })
    expect([attempts, lastStatus, lastError]).toEqual([3, null, null])
    expect(nextAttemptAt).toBe(toUnix(createdAt))
    expect((await rowOf(pending)).nextAttemptAt).toEqual(AT_ONCE)
    world.advance(60)
    await api.deliveries.retry({ id: pending })
    expect((await rowOf(pending)).nextAttemptAt).toEqual(AT_ONCE)
  })

  it('leaves the lease of a running attempt', async () => {
    const leasedUntil = later()
    const leased = await mintDelivery(world.db, receiver, { lease: 'worker 1', leasedUntil })
    await api.deliveries.retry({ id: leased })
    expect(await rowOf(leased)).toMatchObject({ state: 'pending', lease: 'worker 1', leasedUntil })
  })

  it('returns 409 for a delivered delivery', async () => {
    const delivered = await mintDelivery(world.db, receiver, { state: 'delivered', attempts: 1, lastStatus: 204 })
    const before = await rowOf(delivered)
    expect(await refusalOf(api.deliveries.retry({ id: delivered }))).toEqual(DELIVERED)
    await world.db.subscription.update({ where: { id: receiver.subscription }, data: { endedAt: new Date() } })
    expect(await refusalOf(api.deliveries.retry({ id: delivered }))).toEqual(DELIVERED)
    expect(await rowOf(delivered)).toEqual(before)
  })

  it('returns 409 when the subscription has ended', async () => {
    const states = ['failed', 'pending'] as const
    const ids = await Promise.all(states.map((state) => mintDelivery(world.db, receiver, { state })))
    await world.db.subscription.update({ where: { id: receiver.subscription }, data: { endedAt: new Date() } })
    for (const id of ids) {
      const before = await rowOf(id)
      expect(await refusalOf(api.deliveries.retry({ id }))).toEqual(ENDED)
      expect(await rowOf(id)).toEqual(before)
    }
  })

  it.each(['', 'unknown', 'a\0b', 'x'.repeat(256)])('returns 404 for the unknown id %j', async (id) => {
    expect(await refusalOf(api.deliveries.retry({ id }))).toMatchObject(NONE)
  })

  it('returns 404 for a delivery of another provider', async () => {
    const theirs = await mintReceiver(world.db, (await mintOther(world)).app)
    for (const state of ['failed', 'delivered'] as const) {
      const delivery = await mintDelivery(world.db, theirs, { state })
      const before = await rowOf(delivery)
      expect(await refusalOf(api.deliveries.retry({ id: delivery }))).toMatchObject(NONE)
      expect(await rowOf(delivery)).toEqual(before)
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
      () => refusalOf(retry()),
    )
    expect(await refused).toEqual(DELIVERED)
    expect(await rowOf(leased)).toMatchObject(write)
  })

  it('starts over when the delivery has failed', async () => {
    const write = { ...done, state: 'failed' as const, attempts: 8, lastStatus: 500 }
    const item = await meanwhile(world.db, (tx) => tx.delivery.update({ where: { id: leased }, data: write }), retry)
    expect(item).toMatchObject({ id: leased, state: 'pending', attempts: 0, lastStatus: 500 })
    expect(await rowOf(leased)).toMatchObject({ state: 'pending', attempts: 0, finishedAt: null, lease: null })
  })

  it('returns 409 when the subscription has ended', async () => {
    const refused = meanwhile(
      world.db,
      async (tx) => {
        await tx.subscription.update({ where: { id: receiver.subscription }, data: { endedAt: new Date() } })
        await tx.delivery.update({ where: { id: leased }, data: { ...done, state: 'failed' } })
      },
      () => refusalOf(retry()),
    )
    expect(await refused).toEqual(ENDED)
    expect(await rowOf(leased)).toMatchObject({ state: 'failed', nextAttemptAt: null })
  })

  it('is repeated after a deadlock', async () => {
    const receiver = await mintReceiver(world.db, await mintApp(world))
    const pending = await mintDelivery(world.db, receiver)
    const refused = meanwhile(
      world.db,
      (tx) => tx.delivery.update({ where: { id: pending }, data: { lastError: 'gone' } }),
      () => refusalOf(asPlatform(world).deliveries.retry({ id: pending })),
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
      () => refusalOf(retry()),
    )
    expect(await refused).toMatchObject(NONE)
  })
})
