import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { statements } from '../../routers/storage/change-retention.ts'
import { portions } from '../../routers/storage/removal.ts'
import { statements as requests } from '../../routers/storage/request-retention.ts'
import { statements as sync } from '../../routers/sync/statements.ts'
import { migratedDatabase } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { findScans } from '../support/plan-proxy.ts'

/** Large enough for a wrong plan to look cheap, as with 98,000: without statistics, the store is expected to have one row. */
const ROWS = 5_000
const PORTION = 500

let client: pg.Client
beforeAll(async () => {
  client = pgClient(await migratedDatabase(afterAll))
  await client.connect()
  // Without triggers and foreign keys, and without autovacuum, which would analyse the tables.
  await client.query(`SET session_replication_role = replica;
    ALTER TABLE "StorageChange" SET (autovacuum_enabled = false);
    ALTER TABLE "StorageEntry" SET (autovacuum_enabled = false);
    ALTER TABLE "StorageRequest" SET (autovacuum_enabled = false);
    INSERT INTO "StorageUsage" ("appId", "clubId") VALUES ('app', 'club');
    INSERT INTO "StorageCollection" VALUES ('app', 'club', '', 'c', ${ROWS}, ${ROWS}, now());
    INSERT INTO "StorageChange" SELECT 'app', 'club', '', 'c', n, 'k' || n % 100, gen_random_uuid(), now()
      FROM generate_series(1, ${ROWS}) n;
    INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, value, version, "updatedAt")
      SELECT 'app', 'club', '', 'c', 'k' || n, '1', gen_random_uuid(), now() FROM generate_series(1, ${ROWS}) n;
    INSERT INTO "StorageRequest" SELECT 'app', 'club', 'member', 'client', n, 'PUT', sha256(''), '{stored}', '{NULL}', 0, n, now()
      FROM generate_series(1, ${ROWS}) n`)
})
afterAll(() => client.end())

/** Runs the statement and takes it back. Returns how each scan has found its rows, and how many it has read. */
async function scansBy(sql: string, values: unknown[]) {
  await client.query('BEGIN')
  try {
    const { rows } = await client.query(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`, values)
    return findScans(rows[0]['QUERY PLAN'][0].Plan, sql)
  } finally {
    await client.query('ROLLBACK')
  }
}

const store = ['app', 'club']

describe.each(['force_custom_plan', 'force_generic_plan'])('without statistics (%s)', (plans) => {
  beforeAll(() => client.query(`SET plan_cache_mode = ${plans}`))

  it.each<[string, string, string, unknown[]]>([
    ['thins changes', 'StorageChange', statements.thin.text, [...store, PORTION]],
    ['removes changes beyond the most', 'StorageChange', statements.removeUpTo.text, [...store, ROWS, PORTION]],
    ['removes changes of the past', 'StorageChange', statements.removePast.text, [...store, 'now', PORTION]],
    ['removes old keys', 'StorageRequest', requests.remove.text, [...store, 'now', PORTION]],
    ['removes the entries of an ended app', 'StorageEntry', portions.entries.text, [...store, String(PORTION)]],
  ])('housekeeping %s: reads the store once, and removes rows by their place', async (_, table, sql, values) => {
    const scans = (await scansBy(sql, values)).filter((scan) => scan.table === table)
    const removed = scans.filter(({ node }) => node === 'Tid Scan')
    expect(removed.map(({ rows }) => rows)).toEqual([PORTION])
    const others = scans.filter(({ node }) => node !== 'Tid Scan')
    expect(others).toHaveLength(1)
    expect(others[0]!.rows).toBeLessThanOrEqual(ROWS)
  })

  it.each(['new', '17'])(
    'a write with the Idempotency-Key %s reads none of the other keys of its member',
    async (key) => {
      const once = `SELECT outcome FROM storage_once('app', 'club', 'member', '{put}', '{""}', '{c}', '{k1}', '{2}', '{NULL}', '{NULL}',
      now() + $1::interval, 10000, 10000, 'client', $2, 'PUT')`
      const readRows = async () => {
        const { rows } = await client.query(
          `SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables WHERE relname = 'StorageRequest'`,
        )
        return rows[0].read as number
      }
      await client.query('BEGIN')
      const before = await readRows()
      // A day on, as the key 17 came with another request.
      expect((await client.query(once, ['25 hours', key])).rows).toEqual([{ outcome: 'stored' }])
      const read = (await readRows()) - before
      await client.query('ROLLBACK')
      expect(read).toBeLessThanOrEqual(4)
    },
  )

  it('the collections are listed without reading their entries', async () => {
    const scans = await scansBy(sync.collections.text, [...store, '', '', 50])
    expect(scans.filter(({ table, rows }) => table !== 'StorageCollection' && rows > 0)).toEqual([])
  })
})
