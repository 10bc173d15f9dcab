import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import type { PoolObserver } from '../../prisma/pg/observed-pool.ts'
import { release } from '../../prisma/release.ts'
import { databaseMetrics } from '../telemetry/database-metrics.ts'
import { addProcessMetrics } from '../telemetry/process-metrics.ts'
import type { Tracing } from '../telemetry/trace-context.ts'
import type { Config } from './config.ts'
import { databaseEvents } from './log.ts'

export interface Observed {
  registry: Registry
  pool: PoolObserver
  tracing: Tracing | undefined
}

/** A process's metrics, and its spans if tracing is configured: only then are its packages loaded. */
export async function observe({ traces }: Pick<Config, 'traces'>, serviceName: string, log: Logger): Promise<Observed> {
  const registry = new Registry()
  addProcessMetrics(registry, release)
  const tracing = traces
    ? (await import('../telemetry/tracing.ts')).openTracing({ serviceName, version: release, log })
    : undefined
  return {
    registry,
    pool: { ...databaseMetrics(registry), ...databaseEvents(log), began: tracing?.statement },
    tracing,
  }
}
