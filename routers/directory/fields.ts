import { z } from 'zod'
import { isEmailAddress } from '../kernel/email-address.ts'
import type { Reference } from './references.ts'

/** How a field is written in NDJSON and over tRPC; a CSV reader turns its cells into these. */
export type FieldType = 'id' | 'text' | 'number' | 'boolean' | 'time' | 'date' | 'choice' | 'list' | 'questions'

/** A field of a record: `In` as a caller writes it, `Out` as `list` returns it. */
export interface Field<In = unknown, Out = unknown> {
  type: FieldType
  /** Checks a value and turns it into what its column takes as JSON. */
  schema: z.ZodType<unknown, In>
  output: z.ZodType<Out>
  /** What is allowed, to follow "is not". */
  allowed: string
  /** One line for the reference page. */
  about: string
  column: string
  /** `null` is a value. */
  nullable?: true
  /** SQL of the value in a new record that leaves the field out; without it, a new record needs the field. */
  initial?: string
  /** SQL of the value in a stored record (`old`, at the time `:now`) that leaves the field out; the stored value by default. */
  kept?: string
  /** SQL that reads the column (`row`) into JSON; the column itself by default. */
  read?: string
  /** What a value has to be unless it is stored already, and what a refused one "is". */
  form?: { has: (value: string) => boolean; reason: string }
  /** The record that the value names, or each of a list of values. */
  reference?: Reference
  /** The value is stored as rows of another table. */
  children?: Children
}

/** Rows of a child table, which `schema` makes of the value: objects with its columns, but for `parent` and `shared`. */
export interface Children {
  table: string
  /** Its column with the id of the record. */
  parent: string
  /** Its other key columns, and the rest. */
  key: readonly string[]
  rest: readonly string[]
  /** Columns that it has in common with its parent. */
  shared: readonly string[]
  /** The column with the order, which is unique among a parent's rows; the key by default. */
  position?: string
  /** SQL of one child (`child`) as JSON, in the form of the record. */
  read: string
}

export type Options = Partial<Pick<Field, 'column' | 'initial' | 'kept' | 'reference'>>

/** Without `column`, the field has the column of its name. */
export const field = <In, Out>(
  type: FieldType,
  { schema, output, allowed, read }: Pick<Field<In, Out>, 'schema' | 'output' | 'allowed' | 'read'>,
  about: string,
  options: Options = {},
): Field<In, Out> => ({ type, schema, output, allowed, about, column: '', ...(read && { read }), ...options })

/** As the database has it: visible characters of any script, with spaces only between them. */
const ID =
  /^(?! )[^\p{Cc}\p{Cs}\u00a0\u00ad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]{1,255}(?<! )$/u
export const idSchema = z.string().regex(ID)
export const ID_ALLOWED = 'an id: 1 to 255 visible characters, with spaces only between them'

/** PostgreSQL's text has neither NUL nor lone surrogates. */
const TEXT = /^[^\0\p{Cs}]*$/u
export const textSchema = z.string().regex(TEXT)
export const MAX_TEXT_BYTES = 65_536

const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
/** 1 January of the year 1. */
const FIRST_TIME = -62_135_596_800_000

/** Milliseconds since 1970, or NaN. */
const millisecondsOf = (value: string | number) =>
  typeof value === 'number' ? Math.round(value * 1000) : Date.parse(value)

const timeSchema = z
  .union([z.number(), z.iso.datetime({ offset: true })])
  .transform(millisecondsOf)
  .refine((ms) => ms >= FIRST_TIME && ms <= LAST_TIME)
  .transform((ms) => new Date(ms).toISOString())

export const id = (about: string, options?: Options) =>
  field<string, string>('id', { schema: idSchema, output: z.string(), allowed: ID_ALLOWED }, about, options)

export const text = (about: string, options?: Options) =>
  field<string, string>(
    'text',
    {
      schema: textSchema.refine(
        (value) => value.length * 3 <= MAX_TEXT_BYTES || Buffer.byteLength(value) <= MAX_TEXT_BYTES,
      ),
      output: z.string(),
      allowed: `a text of at most ${MAX_TEXT_BYTES} bytes, without NUL`,
    },
    about,
    options,
  )

/** One address, or empty. What is stored and is none is no reason to refuse other changes. */
export const email = (about: string): Field<string, string> => ({
  ...text(about),
  form: {
    has: (value) => value === '' || isEmailAddress(value),
    reason: 'is neither empty nor an e-mail address of at most 254 characters, as name@example.org',
  },
})

export const time = (about: string, options?: Options) =>
  field<string | number, number>(
    'time',
    {
      schema: timeSchema,
      output: z.number(),
      allowed: 'a time of the years 1 to 9999: Unix seconds, or ISO 8601 with an offset',
      read: 'extract(epoch FROM %)',
    },
    about,
    options,
  )

export const date = (about: string, options?: Options) =>
  field<string, string>(
    'date',
    {
      schema: z.iso.date().refine((value) => value >= '0001'),
      output: z.string(),
      allowed: 'a date: YYYY-MM-DD',
    },
    about,
    options,
  )

export const boolean = (about: string, options?: Options) =>
  field<boolean, boolean>(
    'boolean',
    { schema: z.boolean(), output: z.boolean(), allowed: 'true or false' },
    about,
    options,
  )

export const number = (allowed: string, schema: z.ZodType<number, number>, about: string, options?: Options) =>
  field<number, number>('number', { schema, output: z.number(), allowed }, about, options)

/** One of the values, by the label that its column has for it. */
export function choice<const C extends Readonly<Record<string, string>>>(labels: C, about: string, options?: Options) {
  type Value = keyof C & string
  const values = Object.keys(labels) as [Value, ...Value[]]
  const read = `CASE %::text ${values.map((value) => `WHEN '${labels[value]}' THEN '${value}'`).join(' ')} END`
  return field<Value, Value>(
    'choice',
    {
      schema: z.enum(values).transform((value) => labels[value]),
      output: z.enum(values) as z.ZodType<Value>,
      allowed: `one of ${values.join(', ')}`,
      read,
    },
    about,
    options,
  )
}

/** The same field with `null` for nothing, which a new record has that leaves it out. */
export const optional = <In, Out>(of: Field<In, Out>): Field<In | null, Out | null> => ({
  initial: 'NULL',
  ...of,
  nullable: true,
  schema: of.schema.nullable(),
  output: of.output.nullable(),
  allowed: `${of.allowed}, or null`,
})
