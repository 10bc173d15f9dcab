import type { Registry } from 'prom-client'
import { Counter, Histogram } from 'prom-client'
import type { PoolFigures, PoolObserver } from '../../prisma/pg/observed-pool.ts'
import { addGauge, addGauges } from './gauge.ts'

/** Seconds. */
const BUCKETS = [0.0001, 0.001, 0.01, 0.1, 0.5, 1, 2.5, 5]

/** SQLSTATE class 53 (disk, memory, connections): an alert sums it up, so it must exist before the first error. */
const RESOURCES = '53'

/** Each observer is for one pool. */
export function databaseMetrics(registry: Registry): PoolObserver {
  let pool: PoolFigures | undefined
  addGauges(registry, ['database_pool_connections', 'state'], 'Connections of this process, by state.', () =>
    pool ? { idle: pool.idle(), busy: pool.busy() } : {},
  )
  addGauge(registry, 'database_pool_waiting', 'Statements and transactions that wait for a connection.', () =>
    pool?.waiting(),
  )
  const wait = new Histogram({
    name: 'database_wait_seconds',
    help: 'How long statements and transactions waited for a connection.',
    buckets: BUCKETS,
    registers: [registry],
  })
  const failures = new Counter({
    name: 'database_errors_total',
    help: 'Errors that the database answered, by class of SQLSTATE, but for time-outs.',
    labelNames: ['class'],
    registers: [registry],
  })
  failures.inc({ class: RESOURCES }, 0)
  const timeouts = new Counter({
    name: 'database_timeouts_total',
    help: 'Statements, and waits for a connection of the pool, that were ended as they took too long.',
    registers: [registry],
  })
  const connectionFailures = new Counter({
    name: 'database_connection_failures_total',
    help: 'Connections to the database that could not be made, or were lost.',
    registers: [registry],
  })
  return {
    opened(figures) {
      pool = figures
    },
    waited: (seconds) => wait.observe(seconds),
    failed: (code) => failures.inc({ class: code.slice(0, 2) }),
    timedOut: () => timeouts.inc(),
    unconnected: () => connectionFailures.inc(),
  }
}
