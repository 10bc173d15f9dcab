import type { ClientBase } from 'pg'
import type { Reference } from './references.ts'
import type { Layout } from './sql.ts'

/** SQL condition: an id that can be written in several ways; its letters may be composed or not (Unicode NFC and NFD). */
const isOther = (id: string) => `octet_length(${id}) > char_length(${id})`

/** Reads no table where every new id is ASCII. */
export const otherWritings = ({ recordType, table, keys: [id] }: Layout, shown: (value: string) => string) => ({
  field: recordType.key[0]!,
  finds: `WITH fresh AS (
      SELECT line, "${id}" AS id, normalize("${id}") AS composed FROM incoming WHERE NOT was AND ${isOther(`"${id}"`)}
    ), known AS (
      SELECT 0::bigint AS place, old."${id}" AS id FROM ${table} old
      UNION ALL SELECT stage.line, stage."${id}" FROM stage WHERE given IS NOT NULL
    )
    SELECT fresh.line, fresh.id AS value, min(known.id) AS other FROM fresh
      JOIN known ON ${isOther('known.id')} AND normalize(known.id) = fresh.composed
        AND known.id <> fresh.id AND (known.place = 0 OR known.place < fresh.line)
    WHERE (SELECT count(*) > 0 FROM fresh) GROUP BY fresh.line, fresh.id`,
  reason: (value: string | null) =>
    `${shown(value!)} is already an id whose letters are composed differently (Unicode NFC and NFD): write it as it was first written.`,
})

/** The missing ids that are stored in another Unicode form. */
export async function writtenOtherwise(client: ClientBase, { table }: Reference, ids: readonly string[]) {
  const { rows } = await client.query<{ id: string }>(
    `SELECT missing.id FROM unnest($1::text[]) missing (id) WHERE ${isOther('missing.id')} AND normalize(missing.id) IN (
      SELECT normalize(id) FROM "${table}" WHERE ${isOther('id')})`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** SQL condition: no record in `stage` has the key of `row`, in whatever writing. The second part looks at no ASCII keys. */
export function isMissing({ keys }: Layout) {
  const texts = (of: string) => keys.map((column) => `${of}."${column}"::text`)
  const composed = (of: string) =>
    `(${texts(of)
      .map((text) => `normalize(${text})`)
      .join(', ')})`
  const joined = (of: string) => `concat(${texts(of).join(', ')})`
  return `NOT EXISTS (SELECT FROM stage WHERE ${keys.map((column) => `stage."${column}" = row."${column}"`).join(' AND ')})
    AND (NOT ${isOther(joined('row'))} OR ${composed('row')} NOT IN (SELECT ${composed('stage').slice(1, -1)} FROM stage WHERE ${isOther(joined('stage'))}))`
}
