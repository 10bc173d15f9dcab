import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { compareSchema, migrate } from '../../prisma/migrate.ts'
import { readFunctions, readMigrations, readUpgrade, schemaDirectory } from '../../prisma/migration-files.ts'
import { difference, sortedByBytes } from '../../prisma/tools/author-migration.ts'
import { sqlBetween } from '../../prisma/tools/schema-engine.ts'
import { ask } from '../support/ask.ts'
import * as databases from '../support/databases.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** The values of all rows. */
const query = async (url: string, sql: string) => (await ask(url, sql)).flatMap((row) => Object.values(row))
let shared: Promise<string> | undefined

describe('the migrations', () => {
  it('match the schema', async () => {
    expect(await difference(inject('databaseUrl'))).toBe('')
  })

  it('differ from the schema in a database without them', async () => {
    const { url } = await emptyDatabase()
    await query(
      url,
      'CREATE TABLE "Person" ("id" TEXT PRIMARY KEY, "email" INTEGER, "stray" TEXT CHECK ("stray" > \'\'))',
    )
    const sql = await sqlBetween(url, join(schemaDirectory(), 'schema.prisma'))
    expect(sql).toContain('CREATE TABLE "Quiz"')
    expect(sql).toContain('DROP COLUMN "stray"')
  })

  it('give every text column the collation C', async () => {
    const others = await query(
      inject('databaseUrl'),
      `SELECT table_name || '.' || column_name FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name NOT LIKE '\\_%' AND (data_type = 'text' OR udt_name = '_text')
       AND collation_name IS DISTINCT FROM 'C'`,
    )
    expect(others).toEqual([])
  })

  it('compress values of the storage with lz4 where the server has it', async () => {
    const agrees = await query(
      inject('databaseUrl'),
      `SELECT (attcompression = 'l') = ('lz4' = ANY (enumvals)) FROM pg_attribute, pg_settings
       WHERE attrelid = '"StorageEntry"'::regclass AND attname = 'value' AND name = 'default_toast_compression'`,
    )
    expect(agrees).toEqual([true])
  })

  it('name constraints, indexes and triggers by one scheme', async () => {
    const others = await query(
      inject('databaseUrl'),
      `SELECT name FROM (
         SELECT conrelid AS of, conname AS name FROM pg_constraint WHERE contype IN ('p', 'u', 'f', 'c')
         UNION SELECT indrelid, indexrelid::regclass::text FROM pg_index
         UNION SELECT tgrelid, tgname FROM pg_trigger WHERE NOT tgisinternal) named
       JOIN pg_class ON pg_class.oid = of
       WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE '\\_%'
       AND trim(both '"' from name) !~ ('^' || relname || '_(pkey|\\w+_(key|fkey|idx|check|trigger))$')`,
    )
    expect(others).toEqual([])
  })

  it.each([
    [
      `INSERT INTO "Organisation" VALUES ('o', 'club', 'O'); INSERT INTO "Event" VALUES ('e', 'o', 'E', now(), now() - interval '1 s', '')`,
      'Event_end_check',
    ],
    [
      `INSERT INTO "Organisation" VALUES ('o', 'academy', 'O'); INSERT INTO "Quiz" VALUES ('q', 'o', 'Q', 100.5)`,
      'Quiz_threshold_check',
    ],
    [
      `INSERT INTO "Organisation" VALUES ('o', 'academy', 'O'); INSERT INTO "Quiz" VALUES ('q', 'o', 'Q', 50, null, 'draft', 0)`,
      'Quiz_attemptsAllowed_check',
    ],
    [`INSERT INTO "App" VALUES ('a', 'A', 't', 'p', 'active', null, 'secret')`, 'App_webhookSecret_check'],
    [
      `INSERT INTO "App" (id, name, "teamId", "providerId", "formerSecret") VALUES ('a', 'A', 't', 'p', 'f')`,
      'App_former_check',
    ],
    [
      `INSERT INTO "Subscription" (id, "appId", subscriber, "formerUntil") VALUES ('s', 'a', 's', now())`,
      'Subscription_former_check',
    ],
    ...[
      [`'refused', null, null, now()`, 'refusal'],
      [`'approved', 'x', null, now()`, 'refusal'],
      [`'refused', repeat('x', 501), null, now()`, 'length'],
      [`'requested', null, null, null`, 'request'],
      [`'approved', null, now(), null`, 'decision'],
    ].map(([values, check]) => [
      `INSERT INTO "ClubApproval" (id, "organisationId", "appId", state, reason, "requestedAt", "decidedAt") VALUES ('i', 'o', 'a', ${values})`,
      `ClubApproval_${check}_check`,
    ]),
    [`INSERT INTO "CompetitionResult" VALUES ('r', 'c', 'd', 'p', 0, 1, now())`, 'CompetitionResult_place_check'],
    [`INSERT INTO "CompetitionResult" VALUES ('r', 'c', 'd', 'p', 1, 1, 'infinity')`, 'CompetitionResult_time_check'],
    [`INSERT INTO "Organisation" VALUES ('', 'club', 'O')`, 'Organisation_id_check'],
    [`INSERT INTO "Organisation" VALUES ('o', 'club', repeat('ü', 32769))`, 'Organisation_texts_check'],
  ])('reject %s', async (sql, constraint) => {
    await expect(query(inject('databaseUrl'), sql)).rejects.toThrow(`"${constraint}"`)
  })

  it('are applied by the owner of the database, who is no superuser', async () => {
    const role = `owner_${randomUUID().replaceAll('-', '')}`
    await query(inject('databaseUrl'), `CREATE ROLE ${role} LOGIN PASSWORD 'p'`)
    onTestFinished(() => query(inject('databaseUrl'), `DROP ROLE ${role}`).then(() => {}))
    const url = await databases.emptyDatabase(() => {})
    const name = new URL(url).pathname.slice(1)
    // Before its owner.
    onTestFinished(() => query(inject('databaseUrl'), `DROP DATABASE ${name} WITH (FORCE)`).then(() => {}))
    await query(url, `ALTER DATABASE ${name} OWNER TO ${role}`)
    const own = Object.assign(new URL(url), { username: role, password: 'p' })
    const files = [await readMigrations(), await readFunctions()].flat(2)
    expect(await migrate(own.href)).toEqual(files.map(({ name }) => name))
  })

  it('are applied once by concurrent callers', async () => {
    const { url } = await emptyDatabase()
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url), migrate(url)])
    const names = applied.flat()
    expect(names.length).toBeGreaterThan(0)
    expect(new Set(names).size).toBe(names.length)
    const recorded = 'SELECT migration_name FROM "_prisma_migrations" UNION ALL SELECT name FROM "_functions"'
    expect((await query(url, recorded)).sort()).toEqual(names.toSorted())
    expect(await migrate(url)).toEqual([])
  })

  it('have a transaction each: one that fails changes nothing, and those before it stay', async () => {
    const { url, directory } = await emptyDatabase()
    await write(directory, '1_good', 'CREATE TABLE good ()')
    await write(directory, '2_bad', 'CREATE TABLE bad (); SELECT nothing')
    await write(directory, '3_later', 'CREATE TABLE later ()')
    await expect(migrate(url, { directory })).rejects.toThrow(
      /^Migration 2_bad failed, and nothing of it was changed: column "nothing"/,
    )
    const tables = `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '\\_%'`
    expect(await query(url, tables)).toEqual(['good'])
    expect(await compareSchema(url, directory)).toMatchObject({ isNew: false, pending: ['2_bad', '3_later'] })
    await write(directory, '2_bad', 'CREATE TABLE mended ()')
    expect(await migrate(url, { directory })).toEqual(['2_bad', '3_later'])
  })

  it('that run alone are one statement on one index, in a form that can be run again', async () => {
    const statements = [await readUpgrade(), await readMigrations()]
      .flat()
      .filter(({ alone }) => alone)
      .map(({ name, sql }) => [name, sql.replaceAll(/^--.*\n/gm, '').trim()])
    const form =
      /^(?:CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS|DROP INDEX CONCURRENTLY IF EXISTS) "\w+_idx"[^;]*;$/
    expect(statements.filter(([, sql]) => !form.test(sql!))).toEqual([])
  })

  it('that run alone are applied once by concurrent callers, and build again what a crash left half built', async () => {
    const { url, directory } = await emptyDatabase()
    await write(directory, '1_table', 'CREATE TABLE item (number int); INSERT INTO item VALUES (1), (1)')
    await migrate(url, { directory })
    const index = 'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "item_idx" ON item (number);'
    await write(directory, '2_index', `-- no-transaction\n${index}`)
    await expect(migrate(url, { directory })).rejects.toThrow(
      /^Migration 2_index failed, and can be run again: could not create unique index/,
    )
    const valid = `SELECT indisvalid FROM pg_index WHERE indexrelid = 'item_idx'::regclass`
    expect(await query(url, valid)).toEqual([false])

    await query(url, 'DELETE FROM item WHERE ctid = (SELECT min(ctid) FROM item)')
    const applied = await Promise.all([1, 2, 3].map(() => migrate(url, { directory })))
    expect(applied.flat()).toEqual(['2_index'])
    expect(await query(url, valid)).toEqual([true])
    expect(await query(url, `SELECT migration_name FROM "_prisma_migrations" ORDER BY 1`)).toEqual([
      '1_table',
      '2_index',
    ])
  })

  it('throw after one that Prisma recorded as failed', async () => {
    const { url, directory } = await emptyDatabase()
    await write(directory, '1_good', 'CREATE TABLE good ()')
    await migrate(url, { directory })
    await query(url, 'UPDATE "_prisma_migrations" SET finished_at = NULL')
    await expect(migrate(url, { directory })).rejects.toThrow('Migration 1_good is recorded as failed')
  })

  it('may have functions, comments and semicolons, and run in UTC whatever the URL says', async () => {
    const { url, directory } = await emptyDatabase()
    await write(
      directory,
      '1_tricky',
      `-- a comment; with a semicolon
       CREATE FUNCTION tricky() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN ';'; END $$;
       CREATE TABLE zone AS SELECT current_setting('timezone') AS name`,
    )
    await migrate(`${url}?options=-c%20timezone%3DEurope/Berlin`, { directory })
    expect(await query(url, 'SELECT tricky(), name FROM zone')).toEqual([';', 'UTC'])
  })
})

describe('the functions', () => {
  const define = (directory: string, name: string, answer: string) =>
    writeFile(
      join(directory, `functions/${name}.sql`),
      `CREATE OR REPLACE FUNCTION ${name}() RETURNS text LANGUAGE sql RETURN '${answer}'`,
    )

  it('are replaced where a file has changed, in one transaction, and then the triggers', async () => {
    const { url, directory } = await emptyDatabase()
    await write(directory, '1_table', 'CREATE TABLE item (id int)')
    await define(directory, 'first', 'one')
    await define(directory, 'second', 'one')
    const trigger = join(directory, 'functions/triggers/item.sql')
    const on = (event: string) =>
      `CREATE OR REPLACE TRIGGER "item_trigger" BEFORE ${event} ON item EXECUTE FUNCTION suppress_redundant_updates_trigger()`
    await writeFile(trigger, on('UPDATE'))
    const [first, second, item] = ['functions/first.sql', 'functions/second.sql', 'functions/triggers/item.sql']
    expect(await migrate(url, { directory })).toEqual(['1_table', first, second, item])
    expect(await migrate(url, { directory })).toEqual([])

    await define(directory, 'first', 'two')
    await writeFile(join(directory, second!), 'SELECT nothing')
    await writeFile(trigger, on('DELETE'))
    expect((await compareSchema(url, directory)).functions).toEqual([first, second, item])
    await expect(migrate(url, { directory })).rejects.toThrow(
      /^functions\/second.sql failed, and nothing of it was changed: column "nothing"/,
    )
    expect(await query(url, 'SELECT first(), second()')).toEqual(['one', 'one'])

    await define(directory, 'second', 'two')
    expect(await migrate(url, { directory })).toEqual([first, second, item])
    expect(await query(url, 'SELECT first(), second()')).toEqual(['two', 'two'])
    expect(await query(url, `SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'item_trigger'`)).toEqual([
      expect.stringContaining('BEFORE DELETE'),
    ])
  })

  it.each([
    [`UPDATE "_functions" SET release = '99.0.0'`, 'functions/first.sql of 99.0.0'],
    [
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '2_newer', now())`,
      'the migration 2_newer',
    ],
    ['UPDATE "_functions" SET checksum = NULL', undefined],
  ])('of a newer release, or of the operator, stay: after %s', async (sql, newer) => {
    const { url, directory } = await emptyDatabase()
    await write(directory, '1_good', 'CREATE TABLE good ()')
    await define(directory, 'first', 'newer')
    await migrate(url, { directory })
    await query(url, sql)
    await define(directory, 'first', 'older')
    expect(await compareSchema(url, directory)).toEqual({ isNew: false, pending: [], functions: [], newer })
    expect(await migrate(url, { directory })).toEqual([])
    expect(await query(url, 'SELECT first()')).toEqual(['newer'])
  })

  it('are one in each file, which has its name, and the triggers of a table are in one; former signatures share a file', async () => {
    for (const { name, sql } of (await readFunctions()).flat()) {
      if (name === 'functions/former-signatures.sql') continue
      const statements = sql
        .replaceAll(/\$\$[\s\S]*?\$\$/g, '')
        .matchAll(/^(?:CREATE|DROP)\b.*?(?:FUNCTION (\w+)\(| ON "(\w+)")/gms)
      const places = Array.from(statements, ([, own, table]) =>
        own ? `functions/${own}.sql` : `functions/triggers/${table}.sql`,
      )
      expect(new Set(places)).toEqual(new Set([name]))
    }
  })
})

describe('the migration tool', () => {
  it('gives new text columns the collation C', () => {
    const sql = (collate: string) =>
      [
        `CREATE TABLE "A" (\n    "id" TEXT${collate} NOT NULL,\n    "tags" TEXT[]${collate},\n    "end" TEXT${collate}\n);`,
        `ALTER TABLE "A" ADD COLUMN     "b" TEXT${collate} NOT NULL DEFAULT '',\nADD COLUMN     "c" TEXT${collate};`,
        `ALTER TABLE "A" ALTER COLUMN "n" SET DATA TYPE TEXT${collate};`,
        `INSERT INTO "A" VALUES ('TEXT ')`,
      ].join('\n')
    expect(sortedByBytes(sql(''))).toBe(sql(' COLLATE "C"'))
  })
})

async function write(directory: string, name: string, sql: string): Promise<void> {
  await mkdir(join(directory, 'migrations', name), { recursive: true })
  await writeFile(join(directory, 'migrations', name, 'migration.sql'), sql)
}

/** One for the file, emptied; and a directory for the test's own migrations and functions. */
async function emptyDatabase(): Promise<{ url: string; directory: string }> {
  shared ??= databases.emptyDatabase(() => {})
  const url = await shared
  await ask(url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public')
  const directory = await temporaryDirectory()
  await mkdir(join(directory, 'migrations'))
  await mkdir(join(directory, 'functions/triggers'), { recursive: true })
  return { url, directory }
}
