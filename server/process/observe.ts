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
  /** For the pool of the process. */
  pool: PoolObserver
  tracing: Tracing | undefined
}

/** The metrics of a process, and its spans if these are configured: only then the packages that make them are loaded. */
export async function observe({ traces }: Config, serviceName: string, log: Logger): Promise<Observed> {
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
