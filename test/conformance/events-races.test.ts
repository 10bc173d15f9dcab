import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Published } from '../../routers/context.ts'
import { holdApp, holdSubscription, meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp, refusalOf } from '../support/platform.ts'
import type { World } from '../support/world.ts'
import { id, startWorld } from '../support/world.ts'

let world: World
let told: Published[]
let app: string
let receivers: [string, string]
beforeAll(async () => {
  world = await startWorld()
  world.core.published = (event) => void told.push(event)
})
afterAll(() => world.close())
beforeEach(async () => {
  told = []
  app = await mintApp(world)
  receivers = [id('subscription'), id('subscription')]
  await world.db.subscription.createMany({
    data: receivers.map((id) => ({ id, appId: app, subscriber: 's', url: 'https://hooks.example.org' })),
  })
})

const publish = () => asPlatform(world).events.publish({ app, type: 't', data: 1, id: 'e' })
const published = async () => {
  const where = { appId: app }
  const rows = await world.db.delivery.findMany({ where, select: { subscriptionId: true } })
  return [await world.db.publishedEvent.count({ where }), rows.map(({ subscriptionId }) => subscriptionId).sort()]
}

describe('an event that is published at the same time under the same id', () => {
  const twin = (tx: Pick<World['db'], 'publishedEvent' | 'delivery'>) =>
    tx.publishedEvent.create({
      data: {
        ...{ appId: app, id: 'e', type: 'twin', body: '{}', publishedAt: new Date() },
        deliveries: {
          create: {
            id: id('delivery'),
            subscriptionId: receivers[0],
            nextAttemptAt: new Date(),
            createdAt: new Date(),
          },
        },
      },
    })

  it('is the one that is published; the other says the same', async () => {
    expect(await meanwhile(world.db, twin, publish)).toEqual({ id: 'e', deliveries: 1 })
    expect(await published()).toEqual([1, [receivers[0]]])
    expect(await world.db.publishedEvent.findFirst({ where: { appId: app } })).toMatchObject({ type: 'twin' })
    expect(told).toEqual([])
  })

  it('leaves it to the other when it comes to nothing', async () => {
    expect(await meanwhile(world.db, twin, publish, { undo: true })).toEqual({ id: 'e', deliveries: 2 })
    expect(await published()).toEqual([1, [...receivers].sort()])
    expect(told).toHaveLength(1)
  })
})

describe('an app that is published to', () => {
  it('and removed meanwhile is a 404', async () => {
    const refused = meanwhile(
      world.db,
      (tx) => tx.app.delete({ where: { id: app } }),
      () => refusalOf(publish()),
    )
    expect(await refused).toMatchObject({ status: 404, message: 'This app does not exist at this provider.' })
    expect(told).toEqual([])
  })

  it('and suspended meanwhile is a 409', async () => {
    const refused = meanwhile(
      world.db,
      async (tx) => {
        await holdApp(tx, app)
        await tx.app.update({ where: { id: app }, data: { state: 'suspended' } })
      },
      () => refusalOf(publish()),
    )
    expect(await refused).toMatchObject({ status: 409, reason: 'app_suspended' })
    expect(await published()).toEqual([0, []])
  })
})

describe('a deadlock', () => {
  it('is not what a publisher is told of', async () => {
    const refused = meanwhile(
      world.db,
      (tx) => tx.subscription.delete({ where: { id: receivers[0] } }),
      () => refusalOf(publish()),
      { goOn: (tx) => tx.app.delete({ where: { id: app } }) },
    )
    expect(await refused).toMatchObject({ status: 404, message: 'This app does not exist at this provider.' })
  })
})

describe('a subscription that is published to', () => {
  it('and removed meanwhile is left out', async () => {
    const answer = meanwhile(world.db, (tx) => tx.subscription.delete({ where: { id: receivers[0] } }), publish)
    expect(await answer).toEqual({ id: 'e', deliveries: 1 })
    expect(await published()).toEqual([1, [receivers[1]]])
  })

  it('and ended meanwhile is left out', async () => {
    const answer = meanwhile(
      world.db,
      async (tx) => {
        await holdSubscription(tx, receivers[0])
        await tx.subscription.update({ where: { id: receivers[0] }, data: { endedAt: new Date() } })
      },
      publish,
    )
    expect(await answer).toEqual({ id: 'e', deliveries: 1 })
    expect(await published()).toEqual([1, [receivers[1]]])
  })

  it('may be removed by many, while many publish: nobody meets an error', async () => {
    const calls = Array.from({ length: 20 }, (_, n) =>
      asPlatform(world).events.publish({ app, type: 't', data: n, id: `e-${n}` }),
    )
    const removed = receivers.map((id) => asPlatform(world).subscriptions.remove({ id }))
    await Promise.all([...calls, ...removed])
    expect(await published()).toEqual([20, []])
  })
})
