import type { ClientBase } from 'pg'
import type { Layout } from './sql.ts'
import { listed } from './sql.ts'

export async function listRecords(
  client: ClientBase,
  { table, keys, columns, children, owned }: Layout,
  { after, limit }: { after: object | null; limit: number },
): Promise<Record<string, unknown>[]> {
  const [id] = keys
  const own = columns.map(({ name, field }) => {
    const column = `row."${field.column}"`
    return `'${name}', ${field.read ? field.read.replaceAll('%', column) : column}`
  })
  const lists = children.map(({ name, field }) => {
    const { table, parent, position, key, read } = field.children!
    return `'${name}', (SELECT coalesce(json_agg(${read} ORDER BY child."${position ?? key[0]}"), '[]')
      FROM "${table}" child WHERE child."${parent}" = row."${id}")`
  })
  const behind = `(${listed(keys, 'row')}) >
    (SELECT ${listed(keys, 'after')} FROM json_populate_record(NULL::${table}, $2) after)`
  const { rows } = await client.query(
    `SELECT json_build_object(${[...own, ...lists, `'version', row.version`].join(', ')}) AS record
      FROM ${table} row WHERE ${owned} ${after ? `AND ${behind}` : ''} ORDER BY ${listed(keys, 'row')} LIMIT $1`,
    after ? [limit, JSON.stringify(after)] : [limit],
  )
  return rows.map(({ record }) => record)
}
