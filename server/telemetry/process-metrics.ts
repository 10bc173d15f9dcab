import type { Registry } from 'prom-client'
import { collectDefaultMetrics } from 'prom-client'
import { addGauge, addGauges } from './gauge.ts'

/** Seconds; negative when the clock is behind. */
export const addClockGauge = (registry: Registry, ahead: () => number) =>
  addGauge(registry, 'clock_ahead_seconds', "How far this machine's clock is ahead of the database's.", ahead)

/** Node's timer for the delay takes 1.5 ms of CPU a second at every 50 ms, where a process at rest takes 0.6. */
const LAG_EVERY_MS = 1_000

/** CPU, memory, open files, garbage collection, event loop delay, and the version. Call once per process. */
export function addProcessMetrics(registry: Registry, version: string) {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS })
  // Deno's histogram has another scale: 5 us where Node says 10 ms.
  if ('Deno' in globalThis) removeEventLoopMetrics(registry)
  addGauges(registry, ['build_info', 'version'], 'Always 1; the label is the version that runs.', () => ({
    [version]: 1,
  }))
}

function removeEventLoopMetrics(registry: Registry) {
  const names = registry.getMetricsAsArray().map(({ name }) => name)
  for (const name of names) if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name)
}
