import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { times } from '../../support/rounds.ts'
import { holding, receiver, startWorkers } from '../../webhooks/worker-world.ts'

describe('workers under load', { timeout: 60_000 }, () => {
  it('deliver each delivery once when they share a database', async () => {
    const to = await receiver()
    const { subscribe, publish, states } = await startWorkers({ count: 3 })
    const subscriptions = await Promise.all(Array.from({ length: 6 }, () => subscribe(to.url())))
    const all: string[] = []
    for (const subscription of subscriptions) all.push(...(await publish(subscription, { count: 60 })))
    await expect.poll(states, { timeout: 50_000 }).toEqual({ delivered: 360 })
    expect(to.received.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(all.toSorted())
  })

  it('deliver to more subscriptions than one poll finds', { timeout: 300_000 }, async () => {
    const to = await receiver()
    const { db, app, publish, states, wake } = await startWorkers()
    const ids = Array.from({ length: times(5_100, 300) }, () => randomUUID())
    const data = ids.map((id) => ({ id, appId: app, subscriber: 'club', url: to.url(`/${id}`) }))
    await db.subscription.createMany({ data })
    await publish(ids, { count: ids.length })
    wake()
    await expect.poll(states, { timeout: 240_000, interval: 200 }).toEqual({ delivered: ids.length })
    expect(to.received.map(({ path }) => path.slice(1)).toSorted()).toEqual(ids.toSorted())
  })

  it('are not held up by a receiver that never responds, whatever its backlog', async () => {
    const [dead, live] = [await receiver(holding().answer), await receiver()]
    const { subscribe, publish, db, wake } = await startWorkers()
    await publish(await subscribe(dead.url()), { count: 500 })
    wake()
    await expect.poll(() => dead.received.length, { timeout: 20_000 }).toBe(1)
    const subscription = await subscribe(live.url())
    for (let round = 0; round < 3; round++) {
      await publish(subscription, { count: 100, at: Date.now() })
      wake()
      const delivered = () => db.delivery.count({ where: { subscriptionId: subscription, state: 'delivered' } })
      await expect.poll(delivered, { timeout: 20_000 }).toBe(100 * (round + 1))
    }
    const underWay = await db.delivery.count({ where: { lease: { not: null } } })
    expect([underWay, live.received.length]).toEqual([1, 300])
  })

  it('deliver to a live receiver beside 40 that never respond', async () => {
    const [dead, live] = [await receiver(holding().answer), await receiver()]
    const { subscribe, publish, row, wake } = await startWorkers()
    for (let i = 0; i < 40; i++) await publish(await subscribe(dead.url(`/${i}`)), { count: 5 })
    wake()
    await expect.poll(() => dead.received.length, { timeout: 20_000 }).toBe(40)
    const [id] = await publish(await subscribe(live.url()))
    wake()
    await expect.poll(() => row(id), { timeout: 20_000 }).toMatchObject({ state: 'delivered' })
    expect(dead.received).toHaveLength(40)
  })
})
