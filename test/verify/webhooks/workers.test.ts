import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../prisma/client.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import { times } from '../../support/rounds.ts'
import { publisher, startQueue } from '../../webhooks/queue-world.ts'
import { holding, receiver, startWorkers } from '../../webhooks/worker-world.ts'

describe('workers under load', () => {
  it('deliver to more subscriptions than one poll finds', async () => {
    const to = await receiver()
    const { db, app, publish, states, wake } = await startWorkers()
    const ids = Array.from({ length: times(5_100, 300) }, () => randomUUID())
    const data = ids.map((id) => ({ id, appId: app, subscriber: 'club', url: to.url(`/${id}`) }))
    await db.subscription.createMany({ data })
    await publish(ids, { count: ids.length })
    wake()
    await expect.poll(states, { interval: 200 }).toEqual({ delivered: ids.length })
    expect(to.received.map(({ path }) => path.slice(1)).toSorted()).toEqual(ids.toSorted())
  })
})

/** The largest body of an event is 256 KiB; 600 of them are 150 MB. */
const large = JSON.stringify('x'.repeat(255 * 1024))

describe('an app with 600 subscriptions to a silent receiver', () => {
  it.each([
    ['large', large],
    ['small', '{}'],
  ])("does not hold up another provider's delivery, with %s bodies", async (_size, data) => {
    const [silent, live] = [await receiver(holding().answer), await receiver()]
    const { db, cipher, app, publishToAll, wake } = await startWorkers()
    const ids = Array.from({ length: 600 }, () => randomUUID())
    const row = (id: string) => ({ id, appId: app, subscriber: 'club', url: silent.url(`/${id}`) })
    await db.subscription.createMany({ data: ids.map(row) })
    await publishToAll(ids, data)
    wake()
    // As many attempts as this app may have at once: they last a minute here, so that none of them ends.
    await expect
      .poll(
        settled(() => silent.received.length),
        { interval: 500 },
      )
      .toBe(true)

    const neighbour = await publisher(db, cipher)
    const [id] = await neighbour.publish(await neighbour.subscribe(live.url()), { data })
    wake()
    await expect.poll(() => neighbour.row(id), { interval: 10 }).toMatchObject({ state: 'delivered' })
    expect(await db.delivery.count({ where: { appId: app, attempts: { gt: 0 } } })).toBe(0)
  })
})

/** Whether the count has stayed the same since the last call, and is not 0. */
function settled(count: () => number) {
  let before = 0
  return () => {
    const now = count()
    const same = now > 0 && now === before
    before = now
    return same
  }
}

/** A worker whose database connection can fail, with one delivery in flight to a receiver that holds it back. */
async function startDelivering() {
  const hold = holding()
  const to = await receiver(hold.answer)
  const queue = await startQueue()
  const proxy = await FaultProxy.to(queue.databaseUrl)
  const db = openDatabase(proxy.url, () => {})
  onTestFinished(async () => {
    await proxy.end()
    await db.$disconnect()
    proxy.close()
  })
  const world = await startWorkers({ db }, queue)
  const [id] = await world.publish(await world.subscribe(to.url()))
  await expect.poll(() => to.received.length).toBe(1)
  return { ...world, to, hold, proxy, id }
}

describe('a worker whose database is unavailable', () => {
  it.each<Fault>(['refuse', 'reset', 'blackhole'])(
    'keeps results until it is back, and logs one line (%s)',
    async (fault) => {
      const { to, hold, proxy, id, subscribe, publish, row, states, lines } = await startDelivering()
      await proxy.begin(fault)
      const messages = () => lines().filter(({ msg }) => msg !== undefined)
      await expect.poll(() => messages().length).toBe(1)
      expect(messages()).toMatchObject([
        { level: 40, msg: 'deliveries are paused: the database is unavailable', err: expect.anything() },
      ])
      hold.release()
      await expect.poll(() => lines().filter(({ delivery }) => delivery === id)).toHaveLength(1)
      expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0 })
      const [later] = await publish(await subscribe(to.url()))

      await proxy.end()
      await expect.poll(states).toEqual({ delivered: 2 })
      expect(await row(id)).toMatchObject({ attempts: 1, lastStatus: 204 })
      expect(to.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, later])
      await expect.poll(() => messages().length).toBe(2)
      expect(messages()[1]).toMatchObject({ level: 30, msg: 'deliveries have resumed' })
    },
  )

  it('closes, and leaves the result to the lease', async () => {
    const { hold, proxy, id, row, close } = await startDelivering()
    await proxy.begin('blackhole')
    hold.release()
    await close(500)
    expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0, lease: expect.any(String) })
  })
})
