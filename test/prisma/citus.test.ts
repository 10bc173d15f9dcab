import { afterAll, beforeAll, expect, it } from 'vitest'
import { readCitusScript } from '../../deploy/citus.ts'
import { migrate } from '../../prisma/migrate.ts'
import { inTransaction } from '../../prisma/pg/transaction.ts'
import { readCatalogue } from '../support/catalogue.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'

/** Stand-ins for the functions and the table of Citus that deploy/citus.sql uses: they keep what they were called with. */
const standIns = `
  CREATE TABLE asked (what text, name text, distribution text, colocated text, place int GENERATED ALWAYS AS IDENTITY);
  CREATE TABLE pg_dist_local_group (groupid int);
  CREATE FUNCTION create_reference_table(name regclass) RETURNS void LANGUAGE sql AS
    $$ INSERT INTO asked VALUES ('reference', name::text) $$;
  CREATE FUNCTION create_distributed_table(name regclass, distribution text, colocate_with text) RETURNS void LANGUAGE sql AS
    $$ INSERT INTO asked VALUES ('distributed', name::text, distribution, colocate_with) $$;
  CREATE FUNCTION create_distributed_function(name regprocedure, distribution text, colocate_with text) RETURNS void
    LANGUAGE sql AS $$ INSERT INTO asked VALUES ('function', name::text, distribution, colocate_with) $$;`

const tablesQuery = (what: string) => `SELECT name::regclass AS oid FROM asked WHERE what = '${what}'`

let url: string
beforeAll(async () => {
  url = await migratedDatabase(afterAll)
  await query(url, standIns)
  const client = pgClient(url)
  await client.connect()
  const run = async () => {
    for (const statement of await readCitusScript()) await client.query(statement)
  }
  await inTransaction(client, run).finally(() => client.end())
})

const rows = (sql: string) => query(url, sql)

it('every table of the storage is distributed by the club, which is part of all its unique keys', async () => {
  expect(await rows(`SELECT name, distribution FROM asked WHERE what = 'distributed' ORDER BY name`)).toEqual(
    (
      await rows(
        `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'Storage%' ORDER BY 1`,
      )
    ).map(({ name }) => ({ name, distribution: 'clubId' })),
  )
  expect(
    await rows(`SELECT indexrelid::regclass::text AS index FROM pg_index
      JOIN pg_attribute ON attrelid = indrelid AND attname = 'clubId'
      WHERE indisunique AND indrelid IN (${tablesQuery('distributed')}) AND attnum <> ALL (indkey)`),
  ).toEqual([])
})

it('foreign keys of distributed tables are to tables that are on every node, and do not follow the club to another id', async () => {
  expect(
    await rows(`SELECT conname AS key, confrelid::regclass::text AS to, confupdtype AS action FROM pg_constraint
      WHERE contype = 'f' AND conrelid IN (${tablesQuery('distributed')})
        AND (confupdtype <> 'a' OR confrelid NOT IN (${tablesQuery('reference')}))`),
  ).toEqual([])
})

it('foreign keys of tables on every node are to such tables, and none is to a distributed one', async () => {
  expect(
    await rows(`SELECT conname AS key FROM pg_constraint WHERE contype = 'f' AND (
      conrelid IN (${tablesQuery('reference')}) AND confrelid NOT IN (${tablesQuery('reference')})
      OR confrelid IN (${tablesQuery('distributed')}) AND conrelid NOT IN (${tablesQuery('distributed')}))`),
  ).toEqual([])
})

it('a table on every node comes after those that its foreign keys point to', async () => {
  expect(
    await rows(`SELECT conname AS key FROM pg_constraint JOIN asked own ON own.name::regclass = conrelid
      JOIN asked other ON other.name::regclass = confrelid
      WHERE contype = 'f' AND own.what = 'reference' AND other.what = 'reference' AND own.place < other.place`),
  ).toEqual([])
})

it('the writing functions run where their club is', async () => {
  const distributed = `SELECT split_part(name, '(', 1) AS name, distribution FROM asked WHERE what = 'function' ORDER BY 1`
  expect(await rows(distributed)).toEqual([
    { name: 'storage_batch', distribution: 'club' },
    { name: 'storage_delete', distribution: 'club' },
    { name: 'storage_edit', distribution: 'club' },
    { name: 'storage_forget_members', distribution: 'club' },
    { name: 'storage_once', distribution: 'club' },
    { name: 'storage_write', distribution: 'club' },
  ])
})

it('a later release puts back no function and no trigger that the script has replaced or dropped', async () => {
  const schema = async () =>
    (await readCatalogue(url)).filter((line) => /^CREATE (?:OR REPLACE FUNCTION|TRIGGER)/.test(line))
  const before = await schema()
  expect(before.join()).not.toContain('_lockUsage_trigger')
  await rows(`UPDATE "_functions" SET checksum = 'former' WHERE checksum IS NOT NULL`)
  expect(await migrate(url)).toHaveLength(71 - 7)
  expect(await schema()).toEqual(before)
})

it('no trigger of a table on every node reaches the storage', async () => {
  expect(
    await rows(`SELECT tgname AS trigger FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
      WHERE NOT tgisinternal AND tgrelid IN (${tablesQuery('reference')}) AND prosrc ~ '"Storage'`),
  ).toEqual([])
})
