import type { Field } from './fields.ts'
import type { RecordType } from './record-type.ts'

/** A team has the records of its test club, which the platform neither sees nor changes; the platform has all others. */
export type Owner = 'platform' | 'team'

/** A record type's fields, divided into columns and rows of another table. */
export interface Layout {
  recordType: RecordType
  owner: Owner
  /** SQL condition: the row `row` is one of the owner's. */
  owned: string
  table: string
  keys: readonly string[]
  columns: readonly Placed[]
  children: readonly Placed[]
  versionBit: number
}

export interface Placed {
  name: string
  field: Field
  /** The field's bit in `given`, which has the fields that a record sets. */
  bit: number
}

export function toLayout(recordType: RecordType, owner: Owner = 'platform'): Layout {
  const { hidden = 'false' } = recordType
  const placed = Object.entries(recordType.fields as Record<string, Field>).map(([name, field], i) => ({
    name,
    field,
    bit: 1 << i,
  }))
  return {
    recordType,
    owner,
    owned: owner === 'team' ? hidden : `NOT (${hidden})`,
    table: `"${recordType.table}"`,
    keys: recordType.key.map((name) => (recordType.fields as Record<string, Field>)[name]!.column),
    columns: placed.filter(({ field }) => !field.children),
    children: placed.filter(({ field }) => field.children),
    versionBit: 1 << placed.length,
  }
}

/** `of."a", of."b"` */
export const listed = (columns: readonly string[], of?: string) =>
  columns.map((column) => `${of ? `${of}.` : ''}"${column}"`).join(', ')

/** `a."x" = b."x" AND …` */
export const equal = (columns: readonly string[], a: string, b: string) =>
  columns.map((column) => `${a}."${column}" = ${b}."${column}"`).join(' AND ')

/** Replaces `:now` in a record type's SQL, as statements that create tables take no parameters. */
export const at = (now: Date, sql: string) => sql.replaceAll(':now', `'${now.toISOString()}'::timestamptz`)
