import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { addDeliveryGauges, deliveryMetrics } from '../../server/telemetry/delivery-metrics.ts'
import { answering, holding, receiver, startWorkers } from '../webhooks/worker-world.ts'
import { samplesOf } from './samples.ts'

async function watched(retryDelays?: readonly number[]) {
  const registry = new Registry()
  const world = await startWorkers({ metrics: deliveryMetrics(registry), ...(retryDelays && { retryDelays }) })
  addDeliveryGauges(registry, world.workers[0]!.figures)
  const samples = async () => samplesOf(await registry.metrics())
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

  it('do not call what waits for a failing receiver late, but count it', async () => {
    const { subscribe, publish, wake, sample } = await watched()
    await publish(await subscribe((await receiver(answering([500]))).url()), { count: 20 })
    wake()
    await expect.poll(() => sample('deliveries_total{outcome="retried"}')).toBeGreaterThan(0)
    await expect.poll(() => sample('delivery_oldest_due_seconds')).toBe(0)
    expect(await sample('deliveries_due')).toBeGreaterThan(0)
  })
})

describe('the figures of deliveries', () => {
  it('are left out while the database is away, and the others are served', async () => {
    const registry = new Registry()
    const never = () => new Promise<never>(() => {})
    addDeliveryGauges(registry, { underWay: () => 3, secondsSinceTurn: () => 1, due: never })
    const samples = samplesOf(await registry.metrics())
    expect([...samples]).toEqual([
      ['deliveries_under_way', 3],
      ['delivery_turn_age_seconds', 1],
    ])
  })
})
