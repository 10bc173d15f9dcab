import type { Registry } from 'prom-client'
import { Counter } from 'prom-client'
import { addGauge } from './gauge.ts'

export interface LimiterMetrics {
  refused: (level: 'hobby' | 'developer') => void
}

interface SharedStore {
  store: () => 'memory' | 'redis'
  failures: () => number
}

export function limiterMetrics(registry: Registry, shared: SharedStore | undefined): LimiterMetrics {
  const refusals = new Counter({
    name: 'rate_limited_total',
    help: 'Requests refused by the limit of their team, by its level.',
    labelNames: ['level'],
    registers: [registry],
  })
  for (const level of ['hobby', 'developer']) refusals.inc({ level }, 0)
  new Counter({
    name: 'rate_limiter_failures_total',
    help: 'How often the shared store of the limits became unavailable: it failed or took too long.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(shared?.failures() ?? 0)
    },
  })
  const help = 'With REDIS_URL, where limits are counted: 0 in memory, 1 in Redis.'
  addGauge(registry, 'rate_limiter_store', help, () => shared && { memory: 0, redis: 1 }[shared.store()])
  return { refused: (level) => refusals.inc({ level }) }
}
