import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { until } from '../process/service.ts'
import { emptyDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ALTER = `SELECT nextval('tries'); ALTER TABLE item ADD COLUMN name text`

/** A table and a migration of it, and a sequence, which counts also what is rolled back. */
async function tableWithMigration(sql: string) {
  const url = await emptyDatabase()
  await query(url, 'CREATE TABLE item (number int); INSERT INTO item VALUES (1); CREATE SEQUENCE tries')
  const directory = await temporaryDirectory()
  await mkdir(join(directory, 'migrations/1_change'), { recursive: true })
  await mkdir(join(directory, 'functions/triggers'), { recursive: true })
  await writeFile(join(directory, 'migrations/1_change/migration.sql'), sql)
  return { url, directory }
}

/** With the process at the server that it is. */
async function connected(url: string) {
  const client = pgClient(url)
  await client.connect()
  onTestFinished(() => client.end())
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
  return { client, pid: rows[0].pid as number }
}

/** A transaction that has read the table and stays open, as a report does. */
async function longTransaction(url: string) {
  const { client } = await connected(url)
  await client.query('BEGIN; SELECT count(*) FROM item')
  return { end: () => client.query('COMMIT') }
}

/** Statements that have waited for a lock for at least this many seconds. */
const waitingFor = (url: string, statement: string, seconds = 0) =>
  query(
    url,
    `SELECT 1 FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE datname = current_database() AND NOT granted
       AND query LIKE '%${statement}%' AND waitstart <= clock_timestamp() - interval '${seconds} s'`,
  )

const untilWaiting = (url: string, statement: string, seconds?: number) =>
  until(
    () => waitingFor(url, statement, seconds),
    ({ length }) => length > 0,
  )

const countTries = async (url: string): Promise<number> =>
  (await query(url, 'SELECT last_value::int AS tries FROM tries WHERE is_called'))[0]?.tries ?? 0

/** Reads the table, having been seen to wait behind a try of the migration. */
async function readBehind(url: string, statement: string): Promise<void> {
  const { client, pid } = await connected(url)
  let wasBlocked = false
  while (!wasBlocked) {
    await untilWaiting(url, statement)
    let hasRead = false
    const reading = client.query('SELECT count(*) FROM item').then(() => {
      hasRead = true
    })
    await until(async () => {
      const [{ blockers }] = await query(url, `SELECT cardinality(pg_blocking_pids(${pid})) AS blockers`)
      wasBlocked = blockers > 0
      return wasBlocked || hasRead
    }, Boolean)
    await reading
  }
}

describe('a migration that waits for a long transaction', () => {
  it('lets readers pass after 2 s, tries again, and is applied when the transaction has ended', async () => {
    const { url, directory } = await tableWithMigration(
      `CREATE TABLE setting AS SELECT current_setting('lock_timeout') AS "lockTimeout"; ${ALTER}`,
    )
    const long = await longTransaction(url)
    // More tries than a busy machine needs for what follows.
    const migrating = migrate(url, { directory, pausesMs: Array(30).fill(500) })
    const passed = async () => {
      // Without the time-out, it would wait for the long transaction, which ends after it.
      await readBehind(url, 'ALTER TABLE item')
      await expect.poll(() => countTries(url)).toBeGreaterThanOrEqual(3)
      await long.end()
    }
    await Promise.all([migrating, passed()])
    expect(await migrating).toEqual(['1_change'])
    expect(await query(url, 'SELECT * FROM setting')).toEqual([{ lockTimeout: '2s' }])
  })

  it('gives up after five tries, changes nothing and says what to do', async () => {
    const { url, directory } = await tableWithMigration(ALTER)
    const long = await longTransaction(url)
    const migrating = migrate(url, { directory })
    await expect(migrating).rejects.toThrow(
      /^Migration 1_change failed, and nothing of it was changed: .* lock timeout; a long transaction .*pg_stat_activity/,
    )
    expect(await countTries(url)).toBe(5)
    await long.end()
    expect(await query(url, `SELECT column_name FROM information_schema.columns WHERE table_name = 'item'`)).toEqual([
      { column_name: 'number' },
    ])
    expect(await migrate(url, { directory })).toEqual(['1_change'])
  })

  it('waits as long as it takes where it is CONCURRENTLY, as nobody waits for it, beside others that start', async () => {
    const { url, directory } = await tableWithMigration(
      '-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "item_number_idx" ON item (number);\n',
    )
    const { client: writer } = await connected(url)
    await writer.query('BEGIN; INSERT INTO item VALUES (0)')
    let waits = 0
    const both = Promise.all([1, 2].map(() => migrate(url, { directory, waits: () => waits++ })))
    const written = async () => {
      // Longer than the 2 s of other migrations.
      await untilWaiting(url, 'CREATE INDEX CONCURRENTLY', 2.5)
      await expect.poll(() => waits).toBe(1)
      await query(url, 'BEGIN; LOCK TABLE item IN ROW EXCLUSIVE MODE NOWAIT; INSERT INTO item VALUES (2); COMMIT')
      await writer.query('COMMIT')
    }
    await Promise.all([both, written()])
    expect((await both).flat()).toEqual(['1_change'])
    expect(await query(url, `SELECT indisvalid FROM pg_index WHERE indexrelid = 'item_number_idx'::regclass`)).toEqual([
      { indisvalid: true },
    ])
  })
})
