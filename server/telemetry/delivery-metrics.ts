import type { Registry } from 'prom-client'
import { Counter, Histogram } from 'prom-client'
import { addGauge } from './gauge.ts'

/** Seconds; an attempt takes at most 15. */
const BUCKETS = [0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]

/**
 * `retried`: it failed, and another attempt follows; `failed`: it was the last; `gone`: the receiver no longer wants deliveries.
 */
const OUTCOMES = ['delivered', 'retried', 'failed', 'gone'] as const

export interface DeliveryMetrics {
  attempted: (outcome: (typeof OUTCOMES)[number], seconds: number) => void
}

interface Figures {
  underWay: () => number
  /** Since it last looked for due deliveries, or tried to. */
  secondsSinceTurn: () => number
}

export function deliveryMetrics(registry: Registry): DeliveryMetrics {
  const attempts = new Counter({
    name: 'deliveries_total',
    help: 'Attempts to deliver a webhook.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'delivery_seconds',
    help: 'How long attempts to deliver a webhook took.',
    labelNames: ['outcome'],
    buckets: BUCKETS,
    registers: [registry],
  })
  for (const outcome of OUTCOMES) {
    attempts.inc({ outcome }, 0)
    duration.zero({ outcome })
  }
  return {
    attempted(outcome, seconds) {
      attempts.inc({ outcome })
      duration.observe({ outcome }, seconds)
    },
  }
}

export function addDeliveryGauges(registry: Registry, { underWay, secondsSinceTurn }: Figures) {
  addGauge(registry, 'deliveries_under_way', 'Deliveries that this worker attempts now.', underWay)
  addGauge(registry, 'delivery_turn_age_seconds', 'Since this worker last looked for due deliveries.', secondsSinceTurn)
}

/** Due deliveries in the database, for all workers. Every process serves it, as the workers may be down. */
export function addQueueGauges(registry: Registry, due: () => Promise<{ count: number; oldestSeconds: number }>) {
  // One query for both.
  let reading: ReturnType<typeof due> | undefined
  const shared = () => {
    reading ??= due().finally(() => {
      reading = undefined
    })
    return reading
  }
  addGauge(
    registry,
    'deliveries_due',
    'Deliveries that are due: up to 100 of a subscription and 1,000 subscriptions are counted.',
    async () => (await shared()).count,
  )
  addGauge(
    registry,
    'delivery_oldest_due_seconds',
    'For how long the oldest of them has waited: since it was due, or its receiver last failed.',
    async () => (await shared()).oldestSeconds,
  )
}
