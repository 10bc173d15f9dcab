import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { readFunctions, readMigrations, readUpgrade } from '../../prisma/migration-files.ts'
import { prepareSchema } from '../../prisma/prepare-schema.ts'
import { direct } from '../support/addresses.ts'
import { readCatalogue } from '../support/catalogue.ts'
import { emptyDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { editedDirectory, formerCommits, formerDatabase, hasPgDump, oldestDirectory } from './former/database.ts'

/** Needs a pg_dump of the version of the server: `.ci/run` runs these on the machine's. */
const lacksPgDump = !(await hasPgDump())
const [init] = await readMigrations()

const namesIn = async (url: string): Promise<string[]> =>
  (await query(url, 'SELECT migration_name AS name FROM "_prisma_migrations" ORDER BY 1')).map(({ name }) => name)

/** A statement for each table that returns every row, in the columns that the table has now. */
async function readSelections(url: string): Promise<Map<string, string>> {
  const tables = await query(
    url,
    `SELECT relname AS name, format('SELECT ROW(%s)::text AS row FROM %I ORDER BY 1', string_agg(format('%I', attname), ', '
         ORDER BY attnum), relname) AS selection
     FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
     WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT LIKE '\\_%' GROUP BY relname`,
  )
  return new Map(tables.map(({ name, selection }) => [name, selection]))
}

/** What these selections return, by table. */
const selectAll = async (url: string, selections: Map<string, string>) =>
  Object.fromEntries(
    await Promise.all(
      Array.from(selections, async ([table, selection]) => [
        table,
        (await query(url, selection)).map(({ row }) => row as string),
      ]),
    ),
  )

/** Stores and collections whose bytes or entries are not those of their entries. */
const miscounted = (url: string) =>
  query(
    url,
    `WITH entry AS (SELECT *, octet_length(value) AS size FROM "StorageEntry"), counted AS (
       SELECT "appId", "clubId", owner, collection, entries, bytes FROM "StorageCollection"
       UNION ALL SELECT "appId", "clubId", NULL, NULL, entries, bytes FROM "StorageUsage"), stored AS (
       SELECT "appId", "clubId", owner, collection, count(*) AS entries, sum(size) AS bytes FROM entry
       GROUP BY GROUPING SETS (("appId", "clubId", owner, collection), ("appId", "clubId")))
     SELECT counted, stored FROM counted FULL JOIN stored ON (counted."appId", counted."clubId") = (stored."appId", stored."clubId")
       AND counted.owner IS NOT DISTINCT FROM stored.owner AND counted.collection IS NOT DISTINCT FROM stored.collection
     WHERE (counted."appId", stored."appId") IS NULL OR coalesce(counted.entries, stored.entries) <> stored.entries
       OR coalesce(counted.bytes, stored.bytes) <> stored.bytes`,
  )

/** What a restored database has as a new one: without parentheses, which PostgreSQL drops when it reads an AND of ANDs again. */
const readShape = async (url: string) =>
  (await readCatalogue(url))
    .filter((line) => !/^(?:foreign keys to|setting) /.test(line))
    .map((line) => line.replaceAll(/[()]/g, ''))

/** By pg_dump, after the schema was restored from such a dump once: see `readShape`. */
async function dumpRestored(url: string): Promise<string> {
  const restored = await emptyDatabase()
  await query(restored, await dumpSchema(url))
  return dumpSchema(restored)
}

/** Without the lines whose key is random at each run. */
async function dumpSchema(url: string): Promise<string> {
  const { stdout } = await promisify(execFile)('pg_dump', ['--schema-only', '--no-owner', direct(url)], {
    maxBuffer: 1e7,
  })
  return stdout.replaceAll(/^\\(?:un)?restrict .*$/gm, '')
}

let fresh: string
let freshDump: Promise<string> | undefined
beforeAll(async () => {
  fresh = await emptyDatabase(afterAll)
  await migrate(fresh)
})

describe.each(formerCommits)('a database of %s, after one migrate', (commit) => {
  let url: string
  let before: { names: string[]; selections: Map<string, string>; rows: Record<string, string[]> }
  let applied: string[]
  beforeAll(async () => {
    url = await formerDatabase(commit, afterAll)
    const selections = await readSelections(url)
    before = { names: await namesIn(url), selections, rows: await selectAll(url, selections) }
    applied = await migrate(url)
  })

  it('has the schema of a new one, and nothing left to apply', async () => {
    expect(applied).toContain(init!.name)
    expect(await readShape(url)).toEqual(await readShape(fresh))
    // Nodes of the commit, which look for their own, may start again.
    expect(await namesIn(url)).toEqual(expect.arrayContaining([...before.names, init!.name]))
    expect(await migrate(url)).toEqual([])
    await expect(prepareSchema(url, { migrateOnStart: false })).resolves.toBeUndefined()
  })

  it.skipIf(lacksPgDump)('equals a new one in pg_dump --schema-only, byte for byte', async () => {
    freshDump ??= dumpRestored(fresh)
    expect(await dumpRestored(url)).toBe(await freshDump)
  })

  it('has its rows, byte for byte', async () => {
    expect(Object.values(before.rows).flat().length).toBeGreaterThan(100)
    expect(await selectAll(url, before.selections)).toEqual(before.rows)
  })

  it('counts what it stores, and goes on counting', async () => {
    expect(await miscounted(url)).toEqual([])
    await query(
      url,
      `SELECT storage_batch('hobby-app', 'riverside', 'anna', '{put,put,delete}', '{"",anna,""}', '{new,notes,notes}', '{k,exact,huge}',
         '{true,"\\"longer than before\\"",NULL}', '{NULL,NULL,NULL}', '{NULL,NULL,NULL}', now(), 1000000, 1000000, false)`,
    )
    expect(await miscounted(url)).toEqual([])
    const [{ counted }] = await query(
      url,
      `SELECT entries IS NOT NULL AS counted FROM "StorageUsage" WHERE "appId" = 'hobby-app'`,
    )
    expect(counted).toBe(true)
    await query(url, 'TRUNCATE "StorageEntry"')
    expect(await query(url, 'SELECT entries FROM "StorageCollection"')).toEqual([])
    // Nobody who has read changes goes on from them.
    expect(
      await query(url, 'SELECT DISTINCT changes = horizon AS begun, bytes::int, entries::int FROM "StorageUsage"'),
    ).toEqual([{ begun: true, bytes: 0, entries: 0 }])
    expect(await query(url, 'SELECT key FROM "StorageChange"')).toEqual([])
  })
})

it('a database that the migrations of 283ca89d have made, not a dump, gets the same keys, expressions and settings', async () => {
  const url = await emptyDatabase()
  expect(await migrate(url, { directory: await oldestDirectory() })).toHaveLength(2)
  await migrate(url)
  expect(await readCatalogue(url)).toEqual(await readCatalogue(fresh))
})

it('a database of a commit between, whose migrations were edited later, gets the same schema', async () => {
  const url = await emptyDatabase()
  await migrate(url, { directory: await editedDirectory() })
  await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} RESET jit`)
  const inserted = `INSERT INTO "StorageRequest" VALUES ('a', 'c', '', 'c', 'k', 'PUT', sha256(''), '{stored}', ARRAY[gen_random_uuid()], 0, now())`
  await query(url, inserted)
  await migrate(url)
  // A column that was dropped keeps its place.
  const withoutPlaces = async (database: string) =>
    (await readCatalogue(database))
      .filter((line) => !line.startsWith('foreign keys to') && !line.includes('pg.dropped'))
      .map((line) => line.replace(/^(column \S+) \d+/, '$1'))
      .sort()
  expect(await withoutPlaces(url)).toEqual(await withoutPlaces(fresh))
  expect(await migrate(url)).toEqual([])
  await expect(prepareSchema(url, { migrateOnStart: false })).resolves.toBeUndefined()
})

it('a new database gets the migrations and the functions, no step of the upgrade', async () => {
  expect(await namesIn(fresh)).toEqual((await readMigrations()).map(({ name }) => name))
  const functions = (await readFunctions()).flat().map(({ name }) => name)
  expect((await query(fresh, 'SELECT name FROM "_functions"')).map(({ name }) => name).sort()).toEqual(functions.sort())
})

it('a start that migrates upgrades a former database too, and one that does not names what it lacks', async () => {
  const url = await formerDatabase('6ea6af0f')
  await expect(prepareSchema(url, { migrateOnStart: false })).rejects.toThrow(
    /^MIGRATE_ON_START is false, and the database lacks the migration 20261127024500_storage_usage_entries and \d+ more: run `member-apps migrate` first\.$/,
  )
  await prepareSchema(url, { migrateOnStart: true })
  expect(await readShape(url)).toEqual(await readShape(fresh))
})

it('an upgrade that is killed goes on where it was with the next migrate', async () => {
  const url = await formerDatabase('283ca89d')
  const reader = pgClient(direct(url))
  await reader.connect()
  onTestFinished(() => reader.end())
  await reader.query('BEGIN; LOCK "Subscription" IN ACCESS SHARE MODE')
  const waiting = `SELECT pid FROM pg_locks JOIN pg_database d ON d.oid = database
    WHERE NOT granted AND datname = current_database() AND relation = '"Subscription"'::regclass`
  const upgrade = migrate(url, { pausesMs: [] }).catch((error) => error.message)
  await expect.poll(async () => (await query(url, waiting)).length).toBe(1)
  await query(url, `SELECT pg_terminate_backend(pid) FROM (${waiting}) migrating`)
  expect(await upgrade).toMatch(/^Migration \w+ failed, and nothing of it was changed: /)
  await reader.query('COMMIT')

  const done = await namesIn(url)
  expect(done.length).toBeGreaterThan(2)
  expect(done).not.toContain(init!.name)
  const rest = await migrate(url)
  expect(rest.filter((name) => done.includes(name))).toEqual([])
  expect(await readShape(url)).toEqual(await readShape(fresh))
})

it('concurrent upgrades apply each step once', async () => {
  const url = await formerDatabase('fc5e3fa5')
  const applied = (await Promise.all([migrate(url), migrate(url), migrate(url)])).flat()
  expect(new Set(applied).size).toBe(applied.length)
  expect(await readShape(url)).toEqual(await readShape(fresh))
})

it.each([
  ['lacks a migration of it', `DELETE FROM "_prisma_migrations" WHERE migration_name = '20261121000000_tables'`],
  [
    'has another version of one',
    `UPDATE "_prisma_migrations" SET checksum = reverse(checksum) WHERE migration_name = '20261121000000_tables'`,
  ],
  ['is of the first day', `UPDATE "_prisma_migrations" SET migration_name = '20261120000000_init'`],
])(
  'a database from before 283ca89d, which %s, is refused with the commit and the page, and not changed',
  async (_, older) => {
    const url = await formerDatabase('283ca89d')
    await query(url, older)
    const [names, catalogue] = [await namesIn(url), await readCatalogue(url)]
    const sentence =
      'The database was made before the commit 283ca89d, the oldest one whose databases `member-apps migrate` upgrades ' +
      '(docs/upgrades.md#from-before-010).'
    await expect(migrate(url)).rejects.toThrow(sentence)
    await expect(prepareSchema(url, { migrateOnStart: false })).rejects.toThrow(sentence)
    expect(await namesIn(url)).toEqual(names)
    expect(await readCatalogue(url)).toEqual(catalogue)
    const page = await readFile(new URL('../../docs/upgrades.md', import.meta.url), 'utf8')
    expect(page.split('\n## From before 0.1.0\n')[1]).toContain('`283ca89d`')
  },
)

it('a database with another version of a step is refused, and not changed', async () => {
  const url = await formerDatabase('fc5e3fa5')
  const step = (await readUpgrade())[0]!.name
  await query(url, `UPDATE "_prisma_migrations" SET checksum = reverse(checksum) WHERE migration_name = '${step}'`)
  const before = await readCatalogue(url)
  await expect(migrate(url)).rejects.toThrow(`Migration ${step} was edited after it had been applied`)
  expect(await readCatalogue(url)).toEqual(before)
})
