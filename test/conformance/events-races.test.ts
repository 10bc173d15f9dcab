import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Published } from '../../routers/kernel/context.ts'
import { holdApp, holdSubscription, meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp, readRefusal } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'

const world = useWorld()
let announced: Published[]
let app: string
let receivers: [string, string]
beforeAll(async () => {
  world.core.published = (event) => void announced.push(event)
})
beforeEach(async () => {
  announced = []
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

describe('events.publish while another transaction publishes the same id', () => {
  const concurrent = (tx: Pick<World['db'], 'publishedEvent' | 'delivery'>) =>
    tx.publishedEvent.create({
      data: {
        appId: app,
        id: 'e',
        type: 'concurrent',
        body: '{}',
        publishedAt: new Date(),
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

  it('returns the committed event', async () => {
    expect(await meanwhile(world.db, concurrent, publish)).toEqual({ id: 'e', deliveries: 1 })
    expect(await published()).toEqual([1, [receivers[0]]])
    expect(await world.db.publishedEvent.findFirst({ where: { appId: app } })).toMatchObject({ type: 'concurrent' })
    expect(announced).toEqual([])
  })

  it('publishes when the other transaction rolls back', async () => {
    expect(await meanwhile(world.db, concurrent, publish, { undo: true })).toEqual({ id: 'e', deliveries: 2 })
    expect(await published()).toEqual([1, [...receivers].sort()])
    expect(announced).toHaveLength(1)
  })
})

describe('events.publish while the app changes', () => {
  it('returns 404 when the app is removed', async () => {
    const refused = meanwhile(
      world.db,
      (tx) => tx.app.delete({ where: { id: app } }),
      () => readRefusal(publish()),
    )
    expect(await refused).toMatchObject({ status: 404, message: 'This app does not exist at this provider.' })
    expect(announced).toEqual([])
  })

  it('returns 409 when the app is suspended', async () => {
    const refused = meanwhile(
      world.db,
      async (tx) => {
        await holdApp(tx, app)
        await tx.app.update({ where: { id: app }, data: { state: 'suspended' } })
      },
      () => readRefusal(publish()),
    )
    expect(await refused).toMatchObject({ status: 409, reason: 'app_suspended' })
    expect(await published()).toEqual([0, []])
  })
})

describe('events.publish in a deadlock', () => {
  it('is repeated', async () => {
    const refused = meanwhile(
      world.db,
      (tx) => tx.subscription.delete({ where: { id: receivers[0] } }),
      () => readRefusal(publish()),
      { goOn: (tx) => tx.app.delete({ where: { id: app } }) },
    )
    expect(await refused).toMatchObject({ status: 404, message: 'This app does not exist at this provider.' })
  })
})

describe('events.publish while a subscription changes', () => {
  it('skips a removed subscription', async () => {
    const answer = meanwhile(world.db, (tx) => tx.subscription.delete({ where: { id: receivers[0] } }), publish)
    expect(await answer).toEqual({ id: 'e', deliveries: 1 })
    expect(await published()).toEqual([1, [receivers[1]]])
  })

  it('skips an ended subscription', async () => {
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
})
