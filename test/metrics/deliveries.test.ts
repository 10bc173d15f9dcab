import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { addDeliveryGauges, addQueueGauges, deliveryMetrics } from '../../server/telemetry/delivery-metrics.ts'
import { dueFigures } from '../../server/webhooks/due-figures.ts'
import { startQueue } from '../webhooks/queue-world.ts'
import { answering, holding, receiver, startWorkers } from '../webhooks/worker-world.ts'
import { parseSamples } from './samples.ts'

async function watched(retryDelays?: readonly number[]) {
  const registry = new Registry()
  const world = await startWorkers({ metrics: deliveryMetrics(registry), ...(retryDelays && { retryDelays }) })
  addDeliveryGauges(registry, world.workers[0]!.figures)
  addQueueGauges(registry, () => dueFigures(world.db, world.now()))
  const samples = async () => parseSamples(await registry.metrics())
  return { ...world, samples, sample: async (name: string) => (await samples()).get(name) }
}

describe('the metrics of deliveries', () => {
  it('count attempts by outcome, and measure them', async () => {
    const { subscribe, publish, wake, samples } = await watched([0])
    for (const statuses of [[204], [500], [500, 204], [410]]) {
      await publish(await subscribe((await receiver(answering(statuses))).url()))
    }
    wake()
    const outcomes = async () => {
      const all = await samples()
      const of = (outcome: string) => all.get(`deliveries_total{outcome="${outcome}"}`)
      return { delivered: of('delivered'), retried: of('retried'), failed: of('failed'), gone: of('gone') }
    }
    await expect.poll(outcomes).toEqual({ delivered: 2, retried: 2, failed: 1, gone: 1 })
    const all = await samples()
    expect(all.get('delivery_seconds_count{outcome="delivered"}')).toBe(2)
    expect(all.get('delivery_seconds_sum{outcome="delivered"}')).toBeGreaterThan(0)
    expect(all.size).toBeLessThan(60)
  })

  it('tell what is under way and due, and when the worker last looked', async () => {
    const hold = holding()
    const { subscribe, publish, wake, sample } = await watched()
    const subscription = await subscribe((await receiver(hold.answer)).url())
    await publish(subscription, { count: 250 })
    wake()
    // A new subscription has one at a time; up to a hundred of each count.
    await expect.poll(() => sample('deliveries_under_way')).toBe(1)
    expect(await sample('deliveries_due')).toBe(100)
    expect(await sample('delivery_oldest_due_seconds')).toBeGreaterThan(86_400)
    await expect.poll(() => sample('delivery_turn_age_seconds')).toBeLessThan(10)
    hold.release()
    await expect.poll(() => sample('deliveries_due')).toBe(0)
    expect(await sample('delivery_oldest_due_seconds')).toBe(0)
    await expect.poll(() => sample('deliveries_under_way')).toBe(0)
  })

  it('do not call what waits for a failing receiver late, but count it, until no worker tries it any more', async () => {
    const { subscribe, publish, wake, sample, close, now, advance, db } = await watched()
    await publish(await subscribe((await receiver(answering([500]))).url()), { count: 20 })
    wake()
    await expect.poll(() => sample('deliveries_total{outcome="retried"}')).toBeGreaterThan(0)
    await close()
    const before = now()
    const { lastAttemptAt } = await db.delivery.findFirstOrThrow({
      where: { attempts: { gt: 0 } },
      orderBy: { lastAttemptAt: 'desc' },
    })
    const oldest = (await sample('delivery_oldest_due_seconds'))!
    expect(oldest).toBeGreaterThanOrEqual(Math.floor((before - lastAttemptAt!.getTime()) / 1000))
    expect(oldest).toBeLessThanOrEqual((now() - lastAttemptAt!.getTime()) / 1000)
    expect(await sample('deliveries_due')).toBeGreaterThan(0)
    advance(300_000)
    expect(await sample('delivery_oldest_due_seconds')).toBeGreaterThanOrEqual(oldest + 300)
  })

  it('tell what is late without a worker', async () => {
    const world = await startQueue()
    const at = Date.parse('2026-11-20T12:00:00Z')
    const oldest = (now: number) => dueFigures(world.db, now)
    expect(await oldest(at)).toEqual({ count: 0, oldestSeconds: 0 })
    const [tried, other] = [await world.subscribe(), await world.subscribe()]
    await world.publish([tried, other], { count: 4, at })
    expect(await oldest(at + 200_000)).toEqual({ count: 4, oldestSeconds: 200 })
    await world.db.delivery.updateMany({
      where: { subscriptionId: other },
      data: { state: 'delivered', nextAttemptAt: null },
    })
    const [first] = await world.db.delivery.findMany({
      where: { subscriptionId: tried },
      orderBy: { createdAt: 'asc' },
    })
    // It failed a minute ago, and is due again later: the other one waits for its receiver.
    await world.db.delivery.update({
      where: { id: first!.id },
      data: { attempts: 1, lastAttemptAt: new Date(at + 140_000), nextAttemptAt: new Date(at + 900_000) },
    })
    expect(await oldest(at + 200_000)).toEqual({ count: 1, oldestSeconds: 60 })
    expect(await oldest(at + 500_000)).toEqual({ count: 1, oldestSeconds: 360 })
  })
})

it('the figures of deliveries are left out while the database is away, and the others are served', async () => {
  const registry = new Registry()
  const never = () => new Promise<never>(() => {})
  addDeliveryGauges(registry, { underWay: () => 3, secondsSinceTurn: () => 1 })
  addQueueGauges(registry, never)
  const samples = parseSamples(await registry.metrics())
  expect([...samples]).toEqual([
    ['deliveries_under_way', 3],
    ['delivery_turn_age_seconds', 1],
  ])
})
