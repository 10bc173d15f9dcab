import type { Field } from './fields.ts'
import type { Kind } from './kind.ts'

/** The fields of a kind that have a column, and those that are rows of another table. */
export interface Layout {
  kind: Kind
  table: string
  /** Columns of the key. */
  keys: readonly string[]
  columns: readonly Placed[]
  children: readonly Placed[]
  /** Whether a record set `version`. */
  versionBit: number
}

export interface Placed {
  name: string
  field: Field
  /** Its bit in `given`, the fields that a record sets. */
  bit: number
}

export function layoutOf(kind: Kind): Layout {
  const placed = Object.entries(kind.fields as Record<string, Field>).map(([name, field], i) => ({
    name,
    field,
    bit: 1 << i,
  }))
  return {
    kind,
    table: `"${kind.table}"`,
    keys: kind.key.map((name) => (kind.fields as Record<string, Field>)[name]!.column),
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

/** SQL of the kinds has `:now` for the time of the call, as the statements that make tables take no parameters. */
export const at = (now: Date, sql: string) => sql.replaceAll(':now', `'${now.toISOString()}'::timestamptz`)
