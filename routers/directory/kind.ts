import { z } from 'zod'
import type { Field } from './fields.ts'

type Fields = Readonly<Record<string, Field>>
type In<F> = F extends Field<infer I, unknown> ? I : never
type Out<F> = F extends { output: z.ZodType<infer O> } ? O : never

/** A record as callers write it: its key, and of the rest what they set. */
export type RecordIn<F extends Fields, K extends keyof F> = { [N in K]: In<F[N]> } & {
  [N in Exclude<keyof F, K>]?: In<F[N]>
} & { version?: number }

type IsUnion<T, U = T> = T extends U ? ([U] extends [T] ? false : true) : never

/** What names a record: its id, or an object of the fields of a key that has several. */
export type IdOf<F extends Fields, K extends keyof F> = IsUnion<K> extends true ? { [N in K]: In<F[N]> } : In<F[K]>

/** A record as `list` returns it. */
export type RecordOut<F extends Fields> = { [N in keyof F]: Out<F[N]> } & { version: number }

/** How a record ends. Rows of memberships, people and organisations are never deleted. */
export interface Ending {
  /** One sentence for the reference page. */
  about: string
  /** SQL condition of the row `row`, at the time `:now`: it has not ended. */
  current: string
  /** How its rows are locked before: `UPDATE` where they are deleted. */
  lock: 'UPDATE' | 'NO KEY UPDATE'
  /** Statements for the keys in the table `ending`, at the time `:now`; they return the keys of what has ended. */
  statements: readonly string[]
}

/** A condition over a record as it would be stored (`row`), with what it is then refused with. */
export interface RowRule {
  field: string
  /** SQL that is true for a record that is refused; `was` is true for one that is stored. */
  refuses: string
  /** SQL of the value that the reason begins with. */
  value: string
  reason: string
}

interface Definition<N extends string, F extends Fields, K extends keyof F & string> {
  name: N
  table: string
  key: readonly K[]
  fields: F
  /** The field that a stored record keeps. */
  fixed?: (keyof F & string) | undefined
  rules?: readonly RowRule[]
  /** SQL condition of the row `row`: it is of a team's test club, and not listed. */
  hidden?: string | undefined
  /** How the rows that change are locked: `UPDATE` also keeps others from adding rows that refer to them. */
  lock?: 'UPDATE'
  ending: Ending
}

/** A kind of records: everything else is derived from these rows. */
export interface Kind<
  N extends string = string,
  F extends Fields = Fields,
  K extends keyof F & string = keyof F & string,
> extends Definition<N, F, K> {
  /** One record; what it has beside its key is optional. */
  record: z.ZodType<Readonly<Record<string, unknown>>, RecordIn<F, K>>
  keyRecord: z.ZodType<Readonly<Record<string, unknown>>>
  id: z.ZodType<unknown, IdOf<F, K>>
  output: z.ZodType<RecordOut<F>>
}

/** Larger ones would not survive JSON. */
const version = z.int().min(0)
export const VERSION_ALLOWED = `a whole number from 0 to ${Number.MAX_SAFE_INTEGER}`

export function kind<const N extends string, F extends Fields, const K extends keyof F & string>(
  definition: Definition<N, F, K>,
): Kind<N, F, K> {
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
  return row as unknown as Kind<N, F, K>
}
