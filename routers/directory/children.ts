import type { ClientBase } from 'pg'
import type { Layout, Placed } from './sql.ts'
import { equal, listed } from './sql.ts'

const wanted = (name: string) => `"incoming_${name}"`

/**
 * Creates a temporary table of the child rows that records set, and marks the stored records whose children differ as changed.
 */
export async function compareChildren(client: ClientBase, { keys: [id] }: Layout, { name, field }: Placed) {
  const { table, parent, key, rest, shared } = field.children!
  const own = [parent, ...key]
  await client.query(
    `CREATE TEMP TABLE ${wanted(name)} ON COMMIT DROP AS
      SELECT row.line, ${[`row."${id}" AS "${parent}"`, listed([...key, ...rest], 'child'), listed(shared, 'row')].filter(Boolean).join(', ')}
      FROM incoming row CROSS JOIN LATERAL json_populate_recordset(NULL::"${table}", row."${name}") child`,
  )
  const differs = rest.length > 0 ? `OR (${listed(rest, 'wanted')}) IS DISTINCT FROM (${listed(rest, 'stored')})` : ''
  await client.query(
    `UPDATE incoming SET changed = true, "listsDiffer" = true FROM (
        SELECT DISTINCT coalesce(wanted."${parent}", stored."${parent}") AS id
        FROM (SELECT child.* FROM ${wanted(name)} child JOIN incoming USING (line) WHERE was) wanted
          FULL JOIN (
            SELECT child.* FROM "${table}" child JOIN incoming ON incoming."${id}" = child."${parent}"
            WHERE incoming.was AND incoming."${name}" IS NOT NULL
          ) stored ON ${equal(own, 'wanted', 'stored')}
        WHERE wanted."${parent}" IS NULL OR stored."${parent}" IS NULL ${differs}
      ) different WHERE incoming."${id}" = different.id AND NOT "listsDiffer"`,
  )
}

/** Replaces the child rows of new and changed records. */
export async function writeChildren(client: ClientBase, { keys: [id] }: Layout, { name, field }: Placed) {
  const { table, parent, key, rest, shared, position } = field.children!
  const own = [parent, ...key]
  const written = `FROM ${wanted(name)} wanted JOIN incoming row USING (line) WHERE (row.changed OR NOT row.was)`
  await client.query(
    `DELETE FROM "${table}" child USING incoming row
      WHERE child."${parent}" = row."${id}" AND row.changed AND row."${name}" IS NOT NULL
        AND NOT EXISTS (SELECT FROM ${wanted(name)} wanted WHERE ${equal(own, 'wanted', 'child')})`,
  )
  // Two rows that swap places would collide in the unique index.
  if (position && !key.includes(position)) {
    await client.query(
      `UPDATE "${table}" child SET "${position}" = -child."${position}" FROM ${wanted(name)} wanted
        WHERE ${equal(own, 'wanted', 'child')} AND child."${position}" <> wanted."${position}"`,
    )
  }
  const all = [...own, ...rest, ...shared]
  const update =
    rest.length === 0
      ? 'NOTHING'
      : `UPDATE SET ${rest.map((column) => `"${column}" = EXCLUDED."${column}"`).join(', ')}
        WHERE (${listed(rest, `"${table}"`)}) IS DISTINCT FROM (${listed(rest, 'EXCLUDED')})`
  await client.query(
    `INSERT INTO "${table}" (${listed(all)}) SELECT ${listed(all, 'wanted')} ${written}
      ORDER BY ${listed(own, 'wanted')} ON CONFLICT (${listed(own)}) DO ${update}`,
  )
}
