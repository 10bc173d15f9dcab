import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { migrationsDirectory } from '../../prisma/migration-files.ts'
import { retryingDeadlocks } from '../../routers/kernel/database-errors.ts'
import { emptyDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'

const released = ['20261121000000_tables', '20261121000001_functions_and_checks', 'migration_lock.toml']

/** The migrations before the numbers of entries, and a function that adds the others one by one. */
async function olderMigrations() {
  const directory = await mkdtemp(join(tmpdir(), 'migrations-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const take = (name: string) => cp(join(migrationsDirectory(), name), join(directory, name), { recursive: true })
  for (const name of released) await take(name)
  const later = (await readdir(migrationsDirectory())).filter((name) => !released.includes(name)).sort()
  return { directory, later, take }
}

async function connect(url: string) {
  const client = pgClient(url)
  await client.connect()
  return client
}

const COUNTED = `SELECT "appId", "clubId", owner, collection, entries FROM "StorageCollection" ORDER BY 1, 2, 3, 4`
const STORED = `SELECT "appId", "clubId", owner, collection, count(*) AS entries FROM "StorageEntry" GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`

it.each([
  ['one by one', 'as each commits'],
  ['together', 'in one transaction'],
])('numbers of entries are counted by the migrations %s, while nodes of the release before write', async (how) => {
  const url = await emptyDatabase()
  const { directory, later, take } = await olderMigrations()
  await migrate(url, { directory: directory })
  const client = await connect(url)
  await client.query(`
    INSERT INTO "Organisation" (id, kind, name) SELECT 'club' || n, 'club', 'C' FROM generate_series(0, 3) n;
    INSERT INTO "Organisation" (id, kind, name) VALUES ('provider', 'provider', 'P');
    INSERT INTO "Team" VALUES ('team', 'T', 'hobby');
    INSERT INTO "App" (id, name, "teamId", "providerId") VALUES ('app', 'A', 'team', 'provider');
    INSERT INTO "StorageEntry" SELECT 'app', 'club' || n % 4, '', 'c' || n % 5, 'k' || n, NULL, '1', gen_random_uuid(), now()
      FROM generate_series(0, 999) n`)

  let writes = 0
  let ends = false
  const write = async (n: number) => {
    const writer = await connect(url)
    // As the service does: a removal by hand locks entries before their usage, a write after it.
    const run = (sql: string, values: string[]) => retryingDeadlocks(() => writer.query(sql, values))
    for (let i = 0; !ends; i++) {
      // Of the older entries too; some collections lose all of theirs, others are new.
      const place = ['app', `club${(n + i) % 4}`, '', `c${(i * 7) % 6}`, `k${(n * 331 + i) % 1200}`]
      if (i % 3 === 0) await run(`SELECT storage_delete($1, $2, $3, $4, $5, null, null)`, place)
      else if (i % 50 === 1) {
        await run(`DELETE FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2 AND collection = $3`, [
          ...place.slice(0, 2),
          'c4',
        ])
      } else {
        await run(`SELECT storage_put($1, $2, $3, $4, $5, '1', gen_random_uuid(), now(), 1000000, null, null)`, place)
      }
      writes++
    }
    await writer.end()
  }
  const writers = [0, 1, 2].map(write)
  const more = async () => {
    const reached = writes + 60
    await expect.poll(() => writes, { interval: 2 }).toBeGreaterThan(reached)
  }

  await more()
  for (const name of later) {
    await take(name)
    if (how === 'together') continue
    expect(await migrate(url, { directory: directory })).toEqual([name])
    await more()
  }
  if (how === 'together') expect(await migrate(url, { directory: directory })).toEqual(later)
  await more()
  ends = true
  await Promise.all(writers)
  const counted = (await client.query(COUNTED)).rows
  expect(counted).toEqual((await client.query(STORED)).rows)
  expect(counted.length).toBeGreaterThan(10)
  expect(await query(url, 'SHOW jit')).toEqual([{ jit: 'off' }])
  await client.query('BEGIN; TRUNCATE "StorageEntry"')
  expect((await client.query(COUNTED)).rows).toEqual([])
  await client.query('ROLLBACK')
  await client.query(`DELETE FROM "App"`)
  expect((await client.query(COUNTED)).rows).toEqual([])
  await client.end()
})
