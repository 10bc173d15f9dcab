import { expect, inject } from 'vitest'
import { dataDirectory, start } from '../../process/service.ts'
import { pgClient } from '../../support/pg-client.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import type { World } from '../../support/world.ts'
import { demoToken } from '../demo.ts'

export const QUOTA = 10 * 1024 * 1024
export const COLLECTION = 'large'

const WRITTEN = 1_700_000_000

/** A JSON string of `unit`s, at most `bytes` long. */
export const makeText = (unit: string, bytes: number) =>
  `"${unit.repeat(Math.floor((bytes - 2) / Buffer.byteLength(unit)))}"`

const toKey = (i: number) => `k${String(i).padStart(5, '0')}`

/** Replaces the tenant's storage with `entries` copies of `value`. */
export async function fill({ ids: { app, club } }: World, entries: number, value: string) {
  const client = pgClient(inject('databaseUrl'))
  await client.connect()
  const put = `SELECT count(*)::int4 AS stored FROM generate_series($1::int, $2::int) n,
    storage_write($3, $4, '', $5, 'k' || lpad(n::text, 5, '0'), $6, gen_random_uuid(), to_timestamp($7), $8, NULL, NULL, NULL, false) put
    WHERE put.outcome = 'stored'`
  try {
    await client.query('DELETE FROM "StorageEntry" WHERE "appId" = $1', [app])
    for (let first = 0, last: number; first < entries; first = last + 1) {
      last = Math.min(first + 499, entries - 1)
      const { rows } = await client.query(put, [first, last, app, club, COLLECTION, value, WRITTEN, QUOTA])
      expect(rows).toEqual([{ stored: last - first + 1 }])
    }
  } finally {
    await client.end()
  }
}

/** The expected list response, byte for byte. */
export function makePage(entries: number, value: string, { limit, offset }: { limit: number; offset: number }): string {
  const numbers = Array.from({ length: Math.max(0, Math.min(limit, entries - offset)) }, (_, i) => offset + i)
  const items = numbers.map((n) => `{"key":"${toKey(n)}","value":${value},"updatedAt":${WRITTEN}}`)
  return `{"items":[${items.join(',')}],"total":${entries}}`
}

/** Starts the service in a process of its own; `token` creates tokens for tenants. */
export async function startAlone(env: Record<string, string> = {}) {
  const DATA_DIR = await dataDirectory()
  const own = { DATABASE_URL: inject('databaseUrl'), DATA_DIR, SECRETS_KEY, LOG_LEVEL: 'warn', WEBHOOK_WORKER: 'false' }
  const { port, internalPort, child } = await start({ ...own, ...env })
  const token = ({ ids: { member, club, client } }: Pick<World, 'ids'>) =>
    demoToken(DATA_DIR, { member, organisation: club, client })
  return { port, internalPort, pid: child.pid!, token }
}
