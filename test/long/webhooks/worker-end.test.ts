import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../prisma/client.ts'
import { claim } from '../../../server/webhooks/queue.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import { startQueue } from '../../webhooks/queue-world.ts'
import { holding, receiver, startWorkers } from '../../webhooks/worker-world.ts'

describe('the end of a worker', { timeout: 60_000 }, () => {
  it('waits for what is under way, writes its outcome, and begins nothing more', async () => {
    const hold = holding()
    const to = await receiver(hold.answer)
    const { subscribe, publish, row, states, close } = await startWorkers()
    const [id] = await publish(await subscribe(to.url()), { count: 20 })
    await expect.poll(() => to.received.length, { timeout: 20_000 }).toBe(1)
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

  it('gives back what does not come to an end, for others to try at once', async () => {
    const to = await receiver(holding().answer)
    const { db, subscribe, publish, row, close } = await startWorkers()
    const subscription = await subscribe(to.url())
    const [id] = await publish(subscription)
    await expect.poll(() => to.received.length, { timeout: 20_000 }).toBe(1)
    expect((await row(id)).lease).not.toBeNull()
    const start = performance.now()
    await close(100)
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0, lease: null, leasedUntil: null })
    const allocation = new Map([[subscription, 1]])
    expect(await claim(db, { now: Date.now(), lease: 'next', leaseMs: 1_000, allocation })).toHaveLength(1)
    // The old worker's outcome comes in at last, and is nobody's.
    await to.close()
    await expect.poll(() => row(id)).toMatchObject({ lease: 'next', attempts: 0 })
  })

  it('is soon with nothing to do, and a second one does no harm', async () => {
    const { close } = await startWorkers()
    await close(30_000)
    await close(30_000)
  })
})

describe('a database that is away', { timeout: 120_000 }, () => {
  it.each<Fault>(['refuse', 'reset', 'blackhole'])('(%s) loses no outcome, and is worth one line', async (fault) => {
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
    const { subscribe, publish, row, states, lines } = world
    const [id] = await publish(await subscribe(to.url()))
    await expect.poll(() => to.received.length, { timeout: 20_000 }).toBe(1)

    await proxy.begin(fault)
    const said = () => lines().filter(({ msg }) => msg !== undefined)
    await expect.poll(() => said().length, { timeout: 30_000 }).toBe(1)
    expect(said()).toMatchObject([
      { level: 40, msg: 'deliveries are paused: the database is unavailable', err: expect.anything() },
    ])
    hold.release()
    await expect.poll(() => lines().filter(({ delivery }) => delivery === id)).toHaveLength(1)
    expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0 })
    const [later] = await publish(await subscribe(to.url()))

    await proxy.end()
    await expect.poll(states, { timeout: 30_000 }).toEqual({ delivered: 2 })
    expect(await row(id)).toMatchObject({ attempts: 1, lastStatus: 204 })
    expect(to.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, later])
    await expect.poll(() => said().length, { timeout: 20_000 }).toBe(2)
    expect(said()[1]).toMatchObject({ level: 30, msg: 'deliveries have resumed' })
  })

  it('does not hold up the end', async () => {
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
    const { subscribe, publish, row, close } = await startWorkers({ db }, queue)
    const [id] = await publish(await subscribe(to.url()))
    await expect.poll(() => to.received.length, { timeout: 20_000 }).toBe(1)
    await proxy.begin('blackhole')
    hold.release()
    const start = performance.now()
    await close(3_000)
    expect(performance.now() - start).toBeLessThan(8_000)
    expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0, lease: expect.any(String) })
  })
})
