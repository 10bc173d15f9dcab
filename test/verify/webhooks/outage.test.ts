import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../../prisma/client.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import { startQueue } from '../../webhooks/queue-world.ts'
import { holding, receiver, startWorkers } from '../../webhooks/worker-world.ts'

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

describe('a worker whose database is unavailable', { timeout: 120_000 }, () => {
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
