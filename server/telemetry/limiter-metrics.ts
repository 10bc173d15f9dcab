import type { Registry } from 'prom-client'
import { Counter } from 'prom-client'
import { addGauge } from './gauge.ts'

export interface LimiterMetrics {
  /** A request was refused by the limit of its team. */
  refused: (level: 'hobby' | 'developer') => void
  /** The shared store did not answer, or too late. */
  failed: () => void
  /** With a shared store: where limits are counted, asked at each scrape. */
  countedIn: (store: () => 'memory' | 'redis') => void
}

/** The limits of the teams. */
export function limiterMetrics(registry: Registry): LimiterMetrics {
  let store: (() => 'memory' | 'redis') | undefined
  const refusals = new Counter({
    name: 'rate_limited_total',
    help: 'Requests refused by the limit of their team, by its level.',
    labelNames: ['level'],
    registers: [registry],
  })
  for (const level of ['hobby', 'developer']) refusals.inc({ level }, 0)
  const failures = new Counter({
    name: 'rate_limiter_failures_total',
    help: 'Calls of the shared store of the limits that failed or took too long.',
    registers: [registry],
  })
  const help = 'With REDIS_URL, where limits are counted: 0 in memory, 1 in Redis.'
  addGauge(registry, 'rate_limiter_store', help, () => store && { memory: 0, redis: 1 }[store()])
  return {
    refused: (level) => refusals.inc({ level }),
    failed: () => failures.inc(),
    countedIn(given) {
      store = given
    },
  }
}
