import type { Registry } from 'prom-client'
import type { Database } from '../../prisma/client.ts'
import { float, statement } from '../../prisma/pg/statement.ts'
import { waitingWriters } from '../../routers/storage/store-lock.ts'
import type { LongPollSlots } from '../http/long-poll-slots.ts'
import type { MemoryBudget } from '../http/memory-budget.ts'
import { addQueueGauges } from '../telemetry/delivery-metrics.ts'
import { addGauge, addGauges } from '../telemetry/gauge.ts'
import { dueFigures } from '../webhooks/due-figures.ts'

const deadRows = statement(
  'metrics_dead_rows',
  `SELECT n_dead_tup::float8 AS dead FROM pg_stat_user_tables WHERE relname = 'StorageUsage'`,
  {},
  { dead: float },
)

const oldestSnapshot = statement(
  'metrics_oldest_snapshot',
  `SELECT coalesce(extract(epoch FROM now() - min(at)), 0)::float8 AS age FROM
    (SELECT xact_start AS at FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND datname = current_database()
       AND backend_type <> 'autovacuum worker'
     UNION ALL SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()) open`,
  {},
  { age: float },
)

interface Parts {
  db: Database
  memory: MemoryBudget
  longPollSlots: LongPollSlots
  /** Unix time in milliseconds; undefined where there is no such key. */
  signsSince: () => number | undefined
  issuerReadAt: () => number | undefined
  now: () => number
}

export function addServiceGauges(
  registry: Registry,
  { db, memory, longPollSlots, signsSince, issuerReadAt, now }: Parts,
) {
  const secondsSince = (at: number | undefined) => (at === undefined ? undefined : Math.max(0, (now() - at) / 1_000))
  addQueueGauges(registry, () => dueFigures(db, now()))
  const whole = memory.freeBytes
  addGauges(registry, ['memory_budget_bytes', 'state'], 'Memory for large bodies of requests and responses.', () => ({
    free: memory.freeBytes,
    held: whole - memory.freeBytes,
  }))
  addGauge(registry, 'memory_budget_waiting', 'Requests that wait for that memory.', () => memory.waiting)
  addGauge(registry, 'waiting_calls', 'Requests that wait for changes, and open streams.', () => longPollSlots.size)
  addGauge(registry, 'storage_writers_waiting', 'Writers that wait for their store in this process.', waitingWriters)
  addGauge(registry, 'signing_key_age_seconds', 'For how long the key that signs access tokens has done so.', () =>
    secondsSince(signsSince()),
  )
  addGauge(registry, 'issuer_keys_age_seconds', 'Since the keys of TOKEN_ISSUER were last read.', () =>
    secondsSince(issuerReadAt()),
  )
  addGauge(registry, 'storage_usage_dead_rows', 'Dead row versions of the table StorageUsage.', async () => {
    const [row] = await db.execute(deadRows, {})
    return row?.dead
  })
  addGauge(
    registry,
    'database_oldest_snapshot_seconds',
    'Age of the oldest transaction that holds rows back.',
    async () => {
      const [row] = await db.execute(oldestSnapshot, {})
      return row?.age
    },
  )
}
