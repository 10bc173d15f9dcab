import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { emptyDatabase, migratedDatabase, query } from '../support/databases.ts'
import { temporaryDirectory } from './embedded/servers.ts'
import { command, dataDirectory, launch, start, until } from './service.ts'

/** Of which a migration alters the table. */
async function tableWithMigration(sql: string) {
  const url = await emptyDatabase()
  await query(url, 'CREATE TABLE item (number int); INSERT INTO item SELECT generate_series(1, 100)')
  const directory = await temporaryDirectory()
  await mkdir(join(directory, '1_change'))
  await writeFile(join(directory, '1_change', 'migration.sql'), sql)
  return { url, directory }
}

/** A transaction that has read the table and stays open, as a report does. */
async function longTransaction(url: string) {
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN; SELECT count(*) FROM item')
  return { end: () => client.query('COMMIT') }
}

/** Readers without a pause until `ends` settles: how long each of them took, in milliseconds. */
async function readersUntil(url: string, ends: Promise<unknown>): Promise<number[]> {
  let reading = true
  const took: number[] = []
  const stop = () => {
    reading = false
  }
  ends.then(stop, stop)
  const reader = async () => {
    const client = new pg.Client(url)
    await client.connect()
    while (reading) {
      const start = performance.now()
      await client.query('SELECT count(*) FROM item')
      took.push(performance.now() - start)
      await pause(5)
    }
    await client.end()
  }
  await Promise.all([reader(), reader(), reader()])
  return took
}

const waitingFor = (url: string, statement: string) =>
  query(url, `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '${statement}%'`)

describe('a migration that waits for a long transaction', { timeout: 120_000 }, () => {
  it('lets readers pass after 2 s, tries again, and is applied when the transaction has ended', async () => {
    const { url, directory } = await tableWithMigration('ALTER TABLE item ADD COLUMN name text')
    const long = await longTransaction(url)
    const migrating = migrate(url, { directory })
    // Two tries have failed by the third.
    const ended = (async () => {
      for (let tries = 1; tries <= 3; tries++) {
        await until(
          () => waitingFor(url, 'ALTER TABLE item'),
          ({ length }) => length > 0,
        )
        if (tries < 3)
          await until(
            () => waitingFor(url, 'ALTER TABLE item'),
            ({ length }) => length === 0,
          )
      }
      await long.end()
    })()
    const took = await readersUntil(url, Promise.all([migrating, ended]))
    expect(await migrating).toEqual(['1_change'])
    // Those that came behind a try waited for its 2 s, and no more; without the time-out, for the transaction: 5 s or more.
    expect(Math.max(...took)).toBeLessThan(4_500)
    expect(took.filter((ms) => ms > 1_000).length).toBeLessThanOrEqual(9)
    expect(took.filter((ms) => ms < 500).length).toBeGreaterThan(20)
  })

  it('gives up after five tries, changes nothing and says what to do', async () => {
    const { url, directory } = await tableWithMigration('ALTER TABLE item ADD COLUMN name text')
    const long = await longTransaction(url)
    const migrating = migrate(url, { directory })
    await expect(migrating).rejects.toThrow(
      /^Migration 1_change failed, and nothing of it was changed: .* lock timeout; a long transaction .*pg_stat_activity/,
    )
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
    const writer = new pg.Client(url)
    await writer.connect()
    await writer.query('BEGIN; INSERT INTO item VALUES (0)')
    let waits = 0
    const both = [1, 2].map(() => migrate(url, { directory, waits: () => waits++ }))
    await until(
      () => waitingFor(url, '-- no-transaction'),
      ({ length }) => length > 0,
    )
    await until(
      async () => waits,
      (count) => count === 1,
    )
    const took = await readersUntil(url, pause(3_000))
    expect(took.length).toBeGreaterThan(20)
    expect(Math.max(...took)).toBeLessThan(2_000)
    await writer.query('COMMIT')
    await writer.end()
    expect((await Promise.all(both)).flat()).toEqual(['1_change'])
    expect(await query(url, `SELECT indisvalid FROM pg_index WHERE indexrelid = 'item_number_idx'::regclass`)).toEqual([
      { indisvalid: true },
    ])
  })
})

describe('with MIGRATE_ON_START=false', { timeout: 120_000 }, () => {
  const lack = (url: string) =>
    query(
      url,
      `DROP TABLE "Housekeeping"; DROP INDEX "Subscription_ended_idx";
       DELETE FROM "_prisma_migrations" WHERE migration_name = '20261122000001_housekeeping'`,
    )

  it('a start and a command refuse an older database in one sentence, and npm run migrate brings it to this release', async () => {
    const DATABASE_URL = await migratedDatabase()
    await lack(DATABASE_URL)
    const env = { DATABASE_URL, DATA_DIR: await dataDirectory(), MIGRATE_ON_START: 'false' }
    const sentence =
      'The database cannot be used: MIGRATE_ON_START is false, and it lacks the migration 20261122000001_housekeeping: ' +
      'run `npm run migrate` first.\n'
    expect(await (await launch(env)).ended).toMatchObject({ code: 1, stderr: sentence })
    expect(await command('clean', [], env).ended).toMatchObject({ code: 1, stdout: '', stderr: sentence })
    expect(await command('migrate', [], env).ended).toMatchObject({
      code: 0,
      stdout: 'Applied: 20261122000001_housekeeping\n',
    })
    const service = await start(env)
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
  })

  it('or without, a database of a newer release is used, and one line says so', async () => {
    const DATABASE_URL = await migratedDatabase()
    await query(
      DATABASE_URL,
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '20990101000000_later', now())`,
    )
    const env = { DATABASE_URL, DATA_DIR: await dataDirectory() }
    for (const MIGRATE_ON_START of ['false', 'true']) {
      const service = await start({ ...env, MIGRATE_ON_START })
      const lines = service.stdout().match(/.*20990101000000_later.*/g)
      expect(lines).toEqual([
        expect.stringContaining('the database is of a newer release: it has the migration 20990101000000_later'),
      ])
      await service.stop()
    }
  })
})
