import type { ClientBase } from 'pg'
import { openChanges } from './announce.ts'
import { compareChildren, writeChildren } from './children.ts'
import type { SetRule } from './rules.ts'
import { applyRules } from './rules.ts'
import type { Layout, Placed } from './sql.ts'
import { at, equal, listed } from './sql.ts'

/** Another transaction changed a record after this one read it: repeat the merge. */
export class Conflict extends Error {}

interface Step {
  now: Date
  rules: readonly SetRule[]
  writes: (found: number) => boolean
}

/** Checks and writes the records in `stage`; resolves to null when nothing is written. Throws Conflict. */
export async function writeStaged(client: ClientBase, layout: Layout, { now, rules, writes }: Step) {
  await resolve(client, layout, now)
  for (const child of layout.children) await compareChildren(client, layout, child)
  const differing = await count(client)
  if (differing.changed > 0) await lock(client, layout, differing.changed)
  // The first rule has been applied to all of `stage`; the others concern only records to be written.
  if (differing.changed + differing.added > 0) await applyRules(client, rules, 1)
  const { rows } = await client.query('SELECT count(*)::int AS found FROM refused')
  const { found } = rows[0]
  if (!writes(found)) return null
  if (found > 0) await client.query('DELETE FROM incoming USING refused WHERE incoming.line = refused.line')
  const written = found > 0 ? await count(client) : differing
  const changes = written.changed + written.added > 0 ? await openChanges(client, layout) : undefined
  await changes?.before()
  if (written.changed > 0) await update(client, layout)
  if (written.added > 0) await insert(client, layout, written.added)
  if (written.changed + written.added > 0) {
    for (const child of layout.children) await writeChildren(client, layout, child)
  }
  await changes?.after()
  return written
}

async function count(client: ClientBase): Promise<{ changed: number; added: number }> {
  const { rows } = await client.query(
    `SELECT count(*) FILTER (WHERE changed)::int AS changed, count(*) FILTER (WHERE NOT was)::int AS added FROM incoming`,
  )
  return rows[0]
}

/**
 * Creates `incoming`: the records as they would be stored, with `was` (already stored), `changed` (and different; with
 * `listsDiffer`, in its lists), `seen` (its row version) and `fixed`. Without duplicates, and without records of a lower version
 * than the stored one.
 */
async function resolve(
  client: ClientBase,
  { recordType, table, keys, columns, children, versionBit }: Layout,
  now: Date,
) {
  const isKey = ({ name }: Placed) => (recordType.key as readonly string[]).includes(name)
  const values = columns.map((placed) => {
    const { column, initial = 'NULL', kept = `old."${column}"` } = placed.field
    if (isKey(placed)) return `stage."${column}"`
    return `CASE WHEN given & ${placed.bit} <> 0 THEN stage."${column}" WHEN was THEN ${kept} ELSE ${initial} END AS "${column}"`
  })
  const childValues = children.map(
    ({ name, field, bit }) =>
      `CASE WHEN given & ${bit} <> 0 THEN stage."${name}" WHEN NOT was THEN ${field.initial}::json END AS "${name}"`,
  )
  const compared = [...columns.map(({ field }) => field.column), 'version']
  const fixed = recordType.fixed
    ? `old."${columns.find(({ name }) => name === recordType.fixed)!.field.column}"`
    : 'NULL'
  await client.query(
    at(
      now,
      `CREATE TEMP TABLE incoming ON COMMIT DROP AS
        SELECT line, given, malformed, was, seen, fixed, row.*,
          was AND (${listed(compared, 'row')}) IS DISTINCT FROM (${listed(compared, 'old')}) AS changed,
          false AS "listsDiffer"
        FROM stage LEFT JOIN (SELECT *, ctid AS seen FROM ${table}) old ON ${equal(keys, 'old', 'stage')}
          CROSS JOIN LATERAL (SELECT seen IS NOT NULL AS was) stored
          CROSS JOIN LATERAL (SELECT ${fixed} AS fixed) kept
          CROSS JOIN LATERAL (
            SELECT ${[...values, ...childValues].join(', ')},
              CASE WHEN given & ${versionBit} <> 0 THEN stage.version WHEN was THEN old.version ELSE 0 END AS version
          ) row
        WHERE given IS NOT NULL AND NOT EXISTS (SELECT FROM refused WHERE refused.line = stage.line)
          AND (NOT was OR given & ${versionBit} = 0 OR stage.version >= old.version)`,
    ),
  )
}

/** Locks the rows to be changed in the order of their keys, so that merges cannot deadlock. */
async function lock(client: ClientBase, { recordType, table, keys }: Layout, changed: number) {
  const { rows } = await client.query(
    `SELECT count(*)::int AS locked FROM (
      SELECT FROM ${table} old JOIN incoming row ON ${equal(keys, 'old', 'row')} AND old.ctid = row.seen
      WHERE row.changed ORDER BY ${listed(keys, 'old')} FOR ${recordType.lock ?? 'NO KEY UPDATE'} OF old
    ) locked`,
  )
  if (rows[0].locked !== changed) throw new Conflict()
}

const listColumns = ({ columns }: Layout) => [...columns.map(({ field }) => field.column), 'version']

async function update(client: ClientBase, layout: Layout) {
  const { table, keys } = layout
  const rest = listColumns(layout).filter((column) => !keys.includes(column))
  await client.query(
    `UPDATE ${table} old SET ${rest.map((column) => `"${column}" = row."${column}"`).join(', ')}
      FROM (SELECT * FROM incoming WHERE changed) row WHERE ${equal(keys, 'old', 'row')}`,
  )
}

async function insert(client: ClientBase, layout: Layout, added: number) {
  const { table, keys } = layout
  const { rowCount } = await client.query(
    `INSERT INTO ${table} (${listed(listColumns(layout))}) SELECT ${listed(listColumns(layout), 'row')}
      FROM incoming row WHERE NOT was ORDER BY ${listed(keys, 'row')} ON CONFLICT DO NOTHING`,
  )
  // Another transaction has added one of these rows.
  if (rowCount !== added) throw new Conflict()
}
