import { onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { until } from './service.ts'

/** How many values of each table the first key opens, another, and none; `former` is of apps and of subscriptions. */
export const counts = (...rows: [number[], number[], number[], number[], former?: number[]]) => ({
  'App.webhookSecret': rows[0],
  'App.formerSecret': rows[4] ?? [0, 0, 0],
  'Subscription.secret': rows[1],
  'Subscription.formerSecret': rows[4] ?? [0, 0, 0],
  'SigningKey.ciphertext': rows[2],
  'RsaSigningKey.ciphertext': [0, 0, 0],
  'CardKey.ciphertext': [0, 0, 0],
  'SecretsKeyCheck.ciphertext': rows[3],
})

/** All that the command could change. */
export const everything = async (db: Database) => ({
  apps: await db.app.findMany({ orderBy: { id: 'asc' } }),
  subscriptions: await db.subscription.findMany({ orderBy: { id: 'asc' } }),
  deliveries: await db.delivery.findMany({ orderBy: { id: 'asc' } }),
  keys: await db.signingKey.findMany({ orderBy: { kid: 'asc' } }),
  check: await db.secretsKeyCheck.findMany(),
})

/** A connection of its own, for a transaction of the test's. */
export async function connect(url: string) {
  const client = pgClient(url)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** Until a connection to this database waits for a lock. */
export const someoneWaits = (url: string) =>
  until(
    () => query(url, `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
    (waiting) => waiting.length === 1,
  )
