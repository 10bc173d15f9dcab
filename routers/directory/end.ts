import type { ClientBase } from 'pg'
import { announceEnd } from './announce.ts'
import { isMissing } from './composed.ts'
import type { Layout } from './sql.ts'
import { at, equal, listed } from './sql.ts'

export async function countCurrent(
  client: ClientBase,
  { recordType, table, owned }: Layout,
  now: Date,
): Promise<number> {
  const { rows } = await client.query(
    at(now, `SELECT count(*)::int AS count FROM ${table} row WHERE ${recordType.ending.current} AND ${owned}`),
  )
  return rows[0].count
}

/** Ends the current records that are not in `stage`; resolves to their number. Asks those alone whose they are: 5 us each. */
export async function endMissing(client: ClientBase, layout: Layout, now: Date): Promise<number> {
  const { recordType, table, keys, owned } = layout
  const missing = `SELECT * FROM ${table} row WHERE ${recordType.ending.current} AND ${isMissing(layout)} OFFSET 0`
  return end(client, layout, now, {
    select: `SELECT ${listed(keys, 'row')} FROM (${missing}) row WHERE ${owned}`,
  })
}

/** Ends records by key, given as objects of the key's columns; unknown and ended records, and those of others, do not count. */
export async function endKeys(client: ClientBase, layout: Layout, now: Date, keys: readonly object[]): Promise<number> {
  const { table, owned } = layout
  return end(client, layout, now, {
    select: `SELECT DISTINCT ${listed(layout.keys, 'row')} FROM json_populate_recordset(NULL::${table}, $1) asked
      JOIN ${table} row ON ${equal(layout.keys, 'row', 'asked')} WHERE ${owned}`,
    values: [JSON.stringify(keys)],
  })
}

async function end(
  client: ClientBase,
  layout: Layout,
  now: Date,
  { select, values = [] }: { select: string; values?: string[] },
): Promise<number> {
  const { table, keys } = layout
  const { ending } = layout.recordType
  await client.query(`CREATE TEMP TABLE ending ON COMMIT DROP AS SELECT ${listed(keys)} FROM ${table} WITH NO DATA`)
  await client.query(`INSERT INTO ending ${at(now, select)}`, values)
  await client.query(
    `SELECT count(*) FROM (SELECT FROM ${table} row JOIN ending ON ${equal(keys, 'row', 'ending')}
      ORDER BY ${listed(keys, 'row')} FOR ${ending.lock} OF row) locked`,
  )
  await announceEnd(client, layout)
  let ended = 0
  for (const statement of ending.statements) {
    const { rows } = await client.query(
      `WITH ended AS (${at(now, statement)}) SELECT count(*)::int AS count FROM (SELECT DISTINCT * FROM ended) one`,
    )
    ended += rows[0].count
  }
  await client.query('DROP TABLE ending')
  return ended
}
