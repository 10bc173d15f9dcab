import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { publisher } from '../../webhooks/queue-world.ts'
import { holding, receiver, startWorkers } from '../../webhooks/worker-world.ts'

/** The largest body of an event is 256 KiB; 600 of them are 150 MB. */
const large = JSON.stringify('x'.repeat(255 * 1024))

describe('an app with 600 subscriptions to a silent receiver', { timeout: 120_000 }, () => {
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
    // As many as this app may have under way: attempts last a minute here, so that none of them ends.
    await expect
      .poll(
        settled(() => silent.received.length),
        { timeout: 60_000, interval: 500 },
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
