import type { Registry } from 'prom-client'
import { Counter, Histogram } from 'prom-client'
import type { PoolFigures, PoolObserver } from '../../prisma/pg/observed-pool.ts'
import { addGauge, addGauges } from './gauge.ts'

/** Seconds. */
const BUCKETS = [0.0001, 0.001, 0.01, 0.1, 0.5, 1, 2.5, 5]

/** PostgreSQL's classes; codes of the network (EPIPE) have five characters as well. */
const SQLSTATE = /^(?:\d[\dA-Z]|F0|HV|P0|XX)[\dA-Z]{3}$/

/** What to observe a pool with. One observer is for one pool. */
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
    help: 'Errors of the database, by class of SQLSTATE; connection: it could not be reached, or was lost.',
    labelNames: ['class'],
    registers: [registry],
  })
  failures.inc({ class: CONNECTION }, 0)
  return {
    opened(figures) {
      pool = figures
    },
    waited: (seconds) => wait.observe(seconds),
    failed: (code) =>
      failures.inc({ class: code !== undefined && SQLSTATE.test(code) ? code.slice(0, 2) : CONNECTION }),
  }
}

const CONNECTION = 'connection'
