import { query } from '../../support/databases.ts'

export interface Size {
  rows: number
  /** With indexes. */
  bytes: number
}

/** All tables of the schema, by name; those of migrations are not among them. */
export async function readSizes(url: string): Promise<Map<string, Size>> {
  const tables = await query(
    url,
    `SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND NOT starts_with(relname, '_') ORDER BY relname`,
  )
  const counts = tables.map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS rows FROM "${name}"`)
  const rows = new Map((await query(url, counts.join(' UNION ALL '))).map((row) => [row.name, row.rows]))
  return new Map(tables.map(({ name, bytes }) => [name, { rows: rows.get(name), bytes }]))
}

/** How many days ago the oldest row of a table was written or ends; 0 without rows. */
export async function oldestDays(url: string, table: string, column: string): Promise<number> {
  const [{ days }] = await query(
    url,
    `SELECT coalesce(extract(epoch FROM clock_timestamp() - min("${column}")) / 86400, 0)::float8 AS days FROM "${table}"`,
  )
  return days
}

/** Smaller indexes are not worth the pages that they lack: a queue's is empty most of the time. */
const SMALL_BYTES = 1e6
/** How densely CREATE INDEX fills a leaf, in percent. */
const FILLED = 90

export interface Bloat {
  name: string
  table: string
  bytes: number
  times: number
}

/** The indexes, except small ones: as a multiple of the size of a new one. */
export async function readBloat(url: string): Promise<Bloat[]> {
  await query(url, 'CREATE EXTENSION IF NOT EXISTS pgstattuple')
  return query(
    url,
    `SELECT index.relname AS name, owner.relname AS table, index_size::float8 AS bytes,
        (index_size / 8192.0 / (leaf_pages * avg_leaf_density / ${FILLED} + internal_pages + 1))::float8 AS times
      FROM pg_class index JOIN pg_am ON pg_am.oid = index.relam AND amname = 'btree'
        JOIN pg_index ON indexrelid = index.oid JOIN pg_class owner ON owner.oid = indrelid
        CROSS JOIN LATERAL pgstatindex(index.oid)
      WHERE index.relkind = 'i' AND index.relnamespace = 'public'::regnamespace AND index_size > ${SMALL_BYTES}`,
  )
}
