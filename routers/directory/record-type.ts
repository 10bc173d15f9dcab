import { z } from 'zod'
import type { Field } from './fields.ts'

type Fields = Readonly<Record<string, Field>>
type In<F> = F extends Field<infer I, unknown> ? I : never
type Out<F> = F extends { output: z.ZodType<infer O> } ? O : never

export type RecordIn<F extends Fields, K extends keyof F> = { [N in K]: In<F[N]> } & {
  [N in Exclude<keyof F, K>]?: In<F[N]>
} & { version?: number }

type IsUnion<T, U = T> = T extends U ? ([U] extends [T] ? false : true) : never

/** A record's id, or an object when its key has several fields. */
export type RecordId<F extends Fields, K extends keyof F> = IsUnion<K> extends true ? { [N in K]: In<F[N]> } : In<F[K]>

export type RecordOut<F extends Fields> = { [N in keyof F]: Out<F[N]> } & { version: number }

/** Rows of memberships, people and organisations are never deleted. */
export interface Ending {
  about: string
  /** SQL condition: the row `row` has not ended at the time `:now`. */
  current: string
  /** The row lock taken first: `UPDATE` where rows are deleted. */
  lock: 'UPDATE' | 'NO KEY UPDATE'
  /** Statements for the keys in the table `ending`, at the time `:now`; they return the keys of ended records. */
  statements: readonly string[]
}

/** A condition on a record as it would be stored (`row`), and the reason for refusing it. */
export interface RowRule {
  field: string
  /** SQL that is true for a refused record; `was` is true for a stored one. */
  refuses: string
  /** SQL of the value at the start of the reason. */
  value: string
  reason: string
}

interface Definition<N extends string, F extends Fields, K extends keyof F & string> {
  name: N
  table: string
  key: readonly K[]
  fields: F
  /** The field that cannot be changed. */
  fixed?: (keyof F & string) | undefined
  rules?: readonly RowRule[]
  /** SQL condition: the row `row` belongs to a team's test club. */
  hidden?: string | undefined
  /** The row lock for changes: `UPDATE` also prevents others from adding rows that refer to these. */
  lock?: 'UPDATE'
  ending: Ending
}

export interface RecordType<
  N extends string = string,
  F extends Fields = Fields,
  K extends keyof F & string = keyof F & string,
> extends Definition<N, F, K> {
  /** One record; all fields except the key are optional. */
  record: z.ZodType<Readonly<Record<string, unknown>>, RecordIn<F, K>>
  keyRecord: z.ZodType<Readonly<Record<string, unknown>>>
  id: z.ZodType<unknown, RecordId<F, K>>
  output: z.ZodType<RecordOut<F>>
}

/** JSON cannot represent larger numbers exactly. */
const version = z.int().min(0)
export const VERSION_ALLOWED = `a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`

export function recordType<const N extends string, F extends Fields, const K extends keyof F & string>(
  definition: Definition<N, F, K>,
): RecordType<N, F, K> {
  const { key } = definition
  const entries = Object.entries(definition.fields as Readonly<Record<string, Field>>).map(
    ([name, field]) => [name, { ...field, column: field.column || name }] as const,
  )
  const isKey = (name: string) => (key as readonly string[]).includes(name)
  const described = entries.map(
    ([name, { schema, about }]) =>
      [name, (isKey(name) ? schema : schema.optional()).meta({ description: about })] as const,
  )
  const keyRecord = z.strictObject(Object.fromEntries(described.filter(([name]) => isKey(name))))
  const row = {
    ...definition,
    fields: Object.fromEntries(entries),
    record: z.strictObject({ ...Object.fromEntries(described), version: version.optional() }),
    keyRecord,
    id: key.length === 1 ? keyRecord.shape[key[0]!] : keyRecord,
    output: z.object({
      ...Object.fromEntries(entries.map(([name, { output }]) => [name, output])),
      version: z.number(),
    }),
  }
  return row as unknown as RecordType<N, F, K>
}
