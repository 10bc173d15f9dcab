import type { ClientBase } from 'pg'
import { otherWritings, writtenOtherwise } from './composed.ts'
import type { Field } from './fields.ts'
import type { Reference } from './references.ts'
import { describeReference } from './references.ts'
import type { Refusal } from './refusals.ts'
import { shown } from './refusals.ts'
import type { Layout, Placed } from './sql.ts'
import { equal, listed } from './sql.ts'

/** A rule on stored and incoming records: `incoming` has the records as they would be stored (merge.ts). */
export interface SetRule {
  field: string
  /** SQL with the columns `line`, `value`, `other`: one row per refused record. */
  finds: string
  reason: (value: string | null, other: string | null) => string
  /** Its values are ids that should be stored here. */
  reference?: Reference
}

/** Unchanged rows need no check. */
const WRITTEN = '(row.changed OR NOT row.was)'
const MAX_TEXTS_BYTES = 65_536

const quoted = (value: string | null) => (value === null ? 'null' : shown(value))

/** Skips records that are already refused. */
export const duplicates = ({ keys, recordType }: Layout, nameLine: (line: number) => string): SetRule => ({
  field: recordType.key[0]!,
  finds: `SELECT stage.line, concat_ws(' / ', ${listed(keys, 'stage')}) AS value, twice.first::text AS other
    FROM stage JOIN (
      SELECT ${listed(keys)}, min(line) AS first FROM stage GROUP BY ${listed(keys)} HAVING count(*) > 1
    ) twice USING (${listed(keys)}) WHERE stage.line <> twice.first AND given IS NOT NULL`,
  reason: (value, first) => `${quoted(value)} comes more than once, first at ${nameLine(Number(first))}.`,
})

export function listRules(layout: Layout): SetRule[] {
  const { recordType, columns, children } = layout
  return [
    ...(recordType.key.length === 1 ? [otherWritings(layout, quoted)] : []),
    foreign(layout),
    ...[...columns, ...children]
      .filter(({ name, field }) => !isKey(layout, name) && field.initial === undefined)
      .map(needed),
    ...columns.filter(({ field }) => field.form).map((placed) => formed(layout, placed)),
    ...children.filter(({ field }) => field.form).map(formedList),
    ...(recordType.fixed ? [keeps(layout, recordType.fixed)] : []),
    ...columns.filter(isReferring).map((placed) => refers(layout, placed)),
    ...children.filter(isReferring).map((placed) => refersEach(layout, placed)),
    ...textsFit(layout),
    ...(recordType.rules ?? []).map(({ field, refuses, value, reason }) => ({
      field,
      finds: `SELECT line, (${value})::text AS value, NULL AS other FROM incoming row WHERE ${WRITTEN} AND ${refuses}`,
      reason: (found: string | null) => `${quoted(found)} ${reason}.`,
    })),
  ]
}

const isKey = ({ recordType }: Layout, name: string) => (recordType.key as readonly string[]).includes(name)

/** Rows of test clubs are no records of the platform, nor others those of a team. */
const foreign = ({ recordType, table, keys, owned, owner }: Layout): SetRule => ({
  field: recordType.key[0]!,
  finds: `SELECT incoming.line, concat_ws(' / ', ${listed(keys, 'row')}) AS value, NULL AS other
    FROM incoming JOIN ${table} row ON ${equal(keys, 'row', 'incoming')} WHERE incoming.changed AND NOT (${owned})`,
  reason: (value) => `${quoted(value)} is ${owner === 'team' ? 'in no' : "in a team's"} test club, and stays as it is.`,
})

const needed = ({ name, bit }: { name: string; bit: number }): SetRule => ({
  field: name,
  finds: `SELECT line, NULL AS value, NULL AS other FROM incoming row WHERE NOT was AND given & ${bit} = 0`,
  reason: () => 'It is missing, and a new record needs it.',
})

const formed = ({ table, keys }: Layout, { name, field: { type, column } }: Placed): SetRule => ({
  field: name,
  finds: `SELECT line, ${type === 'text' ? `row."${column}"` : 'NULL'} AS value, malformed ->> '${name}' AS other FROM incoming row
    WHERE malformed ->> '${name}' IS NOT NULL
      AND NOT EXISTS (SELECT FROM ${table} old WHERE ${equal(keys, 'old', 'row')} AND old."${column}" = row."${column}")`,
  reason: (value, reason) => `${value === null ? 'It' : quoted(value)} ${reason}.`,
})

/** A record may keep the list that is stored. */
const formedList = ({ name }: Placed): SetRule => ({
  field: name,
  finds: `SELECT line, NULL AS value, malformed ->> '${name}' AS other FROM incoming row
    WHERE malformed ->> '${name}' IS NOT NULL AND (NOT was OR "listsDiffer")`,
  reason: (_, reason) => `It ${reason}.`,
})

function keeps({ recordType }: Layout, name: string): SetRule {
  const { column } = (recordType.fields as Record<string, Field>)[name]!
  return {
    field: name,
    finds: `SELECT line, "${column}"::text AS value, fixed::text AS other FROM incoming row WHERE was AND "${column}" <> fixed`,
    reason: (value, other) => `${quoted(value)} is another ${name} than its own, ${quoted(other)}, which it keeps.`,
  }
}

type Referring = Placed & { field: { reference: Reference } }
const isReferring = (placed: Placed): placed is Referring => placed.field.reference !== undefined

/** SQL for what is wrong with the reference. */
function misses({ kind, same }: Reference) {
  const other = kind ? 'target.kind' : same ? `target."${same}"` : 'target.id'
  const differs = kind ? ` OR target.kind <> '${kind}'` : same ? ` OR target."${same}" <> row."${same}"` : ''
  return { other: `${other}::text`, condition: `(target.id IS NULL${differs})` }
}

/** `other` is the kind, or the organisation, of an existing record. */
function describeReason(reference: Reference): SetRule['reason'] {
  const { table, kind, same } = reference
  return (value, other) => {
    if (other === null) return `${quoted(value)} is not the id of ${describeReference(reference)}.`
    if (kind) return `${quoted(value)} is of the kind ${other}, not ${describeReference(reference)}.`
    return `${quoted(value)} is a ${table.toLowerCase()} of another ${same!.slice(0, -2)}, ${quoted(other)}.`
  }
}

/** Tables that say of a row whether it is of a test club; for the others it would be a query for each reference. */
const saysTestClub = ({ table }: Reference) => table === 'Organisation' || table === 'Discipline'

/** To what the reference names, if the owner of the records has it. */
function joinTarget({ owner }: Layout, reference: Reference, id: string) {
  const own = saysTestClub(reference) ? `AND target."testTeamId" IS ${owner === 'team' ? 'NOT NULL' : 'NULL'}` : ''
  return `LEFT JOIN "${reference.table}" target ON target.id = ${id} ${own}`
}

function refers(layout: Layout, { name, field: { column, reference } }: Referring): SetRule {
  const { other, condition } = misses(reference)
  return {
    field: name,
    reference,
    finds: `SELECT line, row."${column}" AS value, ${other} AS other
      FROM incoming row ${joinTarget(layout, reference, `row."${column}"`)}
      WHERE ${WRITTEN} AND row."${column}" IS NOT NULL AND ${condition}`,
    reason: describeReason(reference),
  }
}

/** Checks each value of a list, and reports the first wrong one. */
function refersEach(layout: Layout, { name, field: { children, reference } }: Referring): SetRule {
  const [column] = children!.key
  const { other, condition } = misses(reference)
  return {
    field: name,
    reference,
    finds: `SELECT DISTINCT ON (line) line, child."${column}" AS value, ${other} AS other
      FROM incoming row JOIN "incoming_${name}" child USING (line)
        ${joinTarget(layout, reference, `child."${column}"`)}
      WHERE ${WRITTEN} AND ${condition} ORDER BY line, child."${column}"`,
    reason: describeReason(reference),
  }
}

/** Limits the texts of one record, as the service's answers are not paged. */
function textsFit({ columns }: Layout): SetRule[] {
  const texts = columns.filter(({ field }) => field.type === 'text').map(({ field }) => field.column)
  if (texts.length < 2) return []
  const sum = texts.map((column) => `octet_length("${column}")`).join(' + ')
  return [
    {
      field: '',
      finds: `SELECT line, (${sum})::text AS value, NULL AS other FROM incoming row
        WHERE ${WRITTEN} AND ${sum} > ${MAX_TEXTS_BYTES}`,
      reason: (bytes) => `Its texts have ${bytes} bytes; at most ${MAX_TEXTS_BYTES} are allowed.`,
    },
  ]
}

const PAGE = 1_000
const OTHERWISE = ': the letters of the stored one are composed differently (Unicode NFC and NFD)'

/** Writes the findings of the rules `from` to `to` into the temporary table `refused`, once per record. */
export async function applyRules(client: ClientBase, rules: readonly SetRule[], from: number, to = rules.length) {
  const found = rules
    .map(({ finds }, rule) => `SELECT line, ${rule} AS rule, value, other FROM (${finds}) found`)
    .slice(from, to)
  if (found.length === 0) return
  await client.query(
    `INSERT INTO refused SELECT DISTINCT ON (line) line, rule, value, other FROM (${found.join(' UNION ALL ')}) found
      ORDER BY line, rule`,
  )
}

/** Reports the contents of `refused`, in the order of the lines. */
export async function sayRefused(client: ClientBase, rules: readonly SetRule[], refuse: (refusal: Refusal) => void) {
  for (let after = '-9223372036854775808'; ; ) {
    const { rows } = await client.query<{ line: string; rule: number; value: string | null; other: string | null }>(
      'SELECT line, rule, value, other FROM refused WHERE line > $1 ORDER BY line LIMIT $2',
      [after, PAGE],
    )
    const otherwise = new Map<number, Set<string>>()
    for (const [at, { reference }] of rules.entries()) {
      const missing = reference ? rows.filter(({ rule, other }) => rule === at && other === null) : []
      const ids = missing.map(({ value }) => value!)
      if (ids.length > 0) otherwise.set(at, await writtenOtherwise(client, reference!, ids))
    }
    for (const { line, rule, value, other } of rows) {
      const { field, reason } = rules[rule]!
      const writing = otherwise.get(rule)?.has(value!) ? OTHERWISE : ''
      refuse({ line: Number(line), field, reason: reason(value, other).replace(/\.$/, `${writing}.`) })
    }
    if (rows.length < PAGE) return
    after = rows.at(-1)!.line
  }
}
