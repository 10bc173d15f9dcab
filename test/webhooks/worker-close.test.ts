import { describe, expect, it } from 'vitest'
import { claim } from '../../server/webhooks/queue.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { startQueue } from './queue-world.ts'
import { holding, receiver, startWorkers } from './worker-world.ts'

describe('closing a worker', () => {
  it('waits for the delivery in flight, writes its result and starts nothing more', async () => {
    const hold = holding()
    const to = await receiver(hold.answer)
    const { subscribe, publish, row, states, close } = await startWorkers()
    const [id] = await publish(await subscribe(to.url()), { count: 20 })
    await expect.poll(() => to.received.length).toBe(1)
    let closed = false
    const closing = close(30_000).then(() => {
      closed = true
    })
    expect(closed).toBe(false)
    hold.release()
    await closing
    expect(await row(id)).toMatchObject({ state: 'delivered', attempts: 1, lease: null })
    expect(await states()).toEqual({ delivered: 1, pending: 19 })
    expect(to.received).toHaveLength(1)
  })

  it('releases a delivery that does not finish, so that others can claim it at once', async () => {
    const to = await receiver(holding().answer)
    const { db, subscribe, publish, row, close } = await startWorkers()
    const subscription = await subscribe(to.url())
    const [id] = await publish(subscription)
    await expect.poll(() => to.received.length).toBe(1)
    expect((await row(id)).lease).not.toBeNull()
    await close(100)
    expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0, lease: null, leasedUntil: null })
    const allocation = new Map([[subscription, 1]])
    expect(await claim(db, { now: Date.now(), lease: 'next', leaseMs: 1_000, allocation })).toHaveLength(1)
    // The closed worker's attempt ends now, and its result is not written.
    await to.close()
    await expect.poll(() => row(id)).toMatchObject({ lease: 'next', attempts: 0 })
  })

  it('releases what it claims while it closes, and attempts none of it', async () => {
    const to = await receiver()
    const queue = await startQueue()
    const ids = await queue.publish([await queue.subscribe(to.url()), await queue.subscribe(to.url())], { count: 2 })
    let workers!: Awaited<ReturnType<typeof startWorkers>>
    await meanwhile(
      queue.db,
      async (tx) => {
        // A claim reads events, a poll does not.
        await tx.$executeRaw`LOCK TABLE "PublishedEvent"`
        workers = await startWorkers({}, queue)
        const waiting = () => queue.db.$queryRaw`
          SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        await expect.poll(waiting, { interval: 20 }).toHaveLength(1)
      },
      () => workers.close(30_000),
    )
    for (const id of ids) {
      expect(await queue.row(id)).toMatchObject({ state: 'pending', attempts: 0, lease: null, leasedUntil: null })
    }
    expect(to.received).toEqual([])
  })

  it('returns soon when idle, also a second time', async () => {
    const { close } = await startWorkers()
    await close(30_000)
    await close(30_000)
  })
})
