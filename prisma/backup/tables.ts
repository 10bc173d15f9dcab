import pg from 'pg'
import type { Migration } from '../migration-files.ts'
import { UNLIMITED } from '../session-limits.ts'
import type { Header, Section } from './file.ts'

export type Migrations = Header['migrations']

/** COPY writes times and numbers as the session says: these keep every value exactly. */
export const COPY_SETTINGS = `SET LOCAL timezone = 'UTC'; SET LOCAL datestyle = 'ISO'; SET LOCAL intervalstyle = 'iso_8601';
  SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'; SET LOCAL client_encoding = 'UTF8'; ${UNLIMITED}`

/** Opens a connection; `end` it. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'member-apps-api backup' })
  client.on('error', () => {}) // a lost connection also fails the current query
  await client.connect()
  return client
}

/**
 * The tables that the migrations create, each after those that its foreign keys refer to, with the columns that hold values.
 * Other tables of the schema are somebody else's.
 */
export async function tablesOf(client: pg.Client, migrations: readonly Migration[]): Promise<Section[]> {
  const created = migrations.flatMap(({ sql }) => [...sql.matchAll(/^CREATE TABLE "(\w+)"/gm)].map(([, name]) => name))
  const { rows } = await client.query<{ table: string; columns: string[]; parents: string[] }>(
    `SELECT c.relname::text AS table,
       (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
       ARRAY (SELECT DISTINCT parent.relname::text FROM pg_constraint f JOIN pg_class parent ON parent.oid = f.confrelid
         WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid) AS parents
     FROM pg_class c
     WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname = ANY ($1)
     ORDER BY c.relname::text COLLATE "C"`,
    [created],
  )
  const sorted: Section[] = []
  const remaining = new Map(rows.map((row) => [row.table, row]))
  while (remaining.size > 0) {
    const next = [...remaining.values()].find(({ parents }) => !parents.some((parent) => remaining.has(parent)))
    if (!next) throw new Error(`Foreign keys refer to one another in a circle: ${[...remaining.keys()].join(', ')}.`)
    remaining.delete(next.table)
    sorted.push({ table: next.table, columns: next.columns })
  }
  return sorted
}

/** Those that the database has, in their order; none for a new database. */
export async function migrationsOf(client: pg.Client): Promise<Migrations> {
  const { rows: found } = await client.query(`SELECT to_regclass('"_prisma_migrations"') IS NOT NULL AS exists`)
  if (!found[0].exists) return []
  const { rows } = await client.query<Migrations[number]>(
    `SELECT migration_name AS name, checksum FROM "_prisma_migrations"
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name COLLATE "C"`,
  )
  return rows
}

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** `"Person" ("id", "firstName")` */
export const target = ({ table, columns }: Section) => `${quoted(table)} (${columns.map(quoted).join(', ')})`
