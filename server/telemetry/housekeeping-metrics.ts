import type { Registry } from 'prom-client'
import { Counter } from 'prom-client'
import { addGauges } from './gauge.ts'

export interface HousekeepingMetrics {
  /** `task` is one of a fixed set of names. */
  removed: (task: string, rows: number) => void
}

type Finished = Readonly<Record<string, number | null>>

/**
 * What housekeeping removes, and its last runs: `finished` is called at each scrape, and returns Unix seconds. A task that has
 * never finished counts from now.
 */
export function housekeepingMetrics(registry: Registry, finished: () => Promise<Finished>): HousekeepingMetrics {
  const start = Math.floor(Date.now() / 1_000)
  const removals = new Counter({
    name: 'housekeeping_removed_total',
    help: 'Rows that housekeeping removed.',
    labelNames: ['task'],
    registers: [registry],
  })
  const help = 'When a task of housekeeping last succeeded, in Unix time.'
  addGauges(registry, ['housekeeping_last_success_seconds', 'task'], help, async () =>
    Object.fromEntries(Object.entries(await finished()).map(([task, at]) => [task, at ?? start])),
  )
  return { removed: (task, rows) => removals.inc({ task }, rows) }
}
