import { z } from 'zod'
import { countries } from '../kernel/countries.ts'
import { isEmailAddress } from '../kernel/email-address.ts'
import { isPlainLine, isPlainText, strayIn } from '../kernel/text-input.ts'
import { isTimeZone } from '../kernel/time.ts'
import type { Reference } from './references.ts'

/**
 * Extended form `2019-03-01T00:00:00.5+01:00` or basic form `20190301T000000+0100`, with T or a space (RFC 3339), and a point or a
 * comma. Seconds and the minutes of the offset may be omitted.
 */
const TIME =
  /^(\d{4})(-?)(\d\d)\2(\d\d)[Tt ](\d\d)(:?)(\d\d)(?:\6(\d\d)(?:[.,](\d+))?)? ?(?:([Zz])|([-+\u2212])(\d\d)(?::?(\d\d))?)$/

/** The same time with all parts, as `z.iso.datetime` reads it. Other text is returned unchanged. */
function extendedTime(text: string): string {
  const found = TIME.exec(text)
  if (!found) return text
  const [, year, , month, day, hour, , minute, second = '00', fraction, utc, sign, offsetHour, offsetMinute = '00'] =
    found
  const offset = utc ? 'Z' : `${sign === '+' ? '+' : '-'}${offsetHour}:${offsetMinute}`
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction ? `.${fraction}` : ''}${offset}`
}

/** The same of a date: `20190301` is `2019-03-01`. */
const extendedDate = (text: string) => text.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3')

/** The form of a field in NDJSON and over tRPC; a CSV reader converts its cells to it. */
export type FieldType = 'id' | 'text' | 'number' | 'boolean' | 'time' | 'date' | 'choice' | 'list' | 'questions'

/** `In` is the form in input, `Out` the form in `list`. */
export interface Field<In = unknown, Out = unknown> {
  type: FieldType
  /** Checks a value and converts it to what its column takes as JSON. */
  schema: z.ZodType<unknown, In>
  output: z.ZodType<Out>
  /** Continues a sentence after "is not". */
  allowed: string
  about: string
  column: string
  nullable?: true
  /** SQL of the default in a new record; without it, a new record needs the field. */
  initial?: string
  /** SQL of the value when an update omits the field (`old` is the stored record, `:now` the time); default: the stored value. */
  kept?: string
  /** SQL that reads the column (`row`) into JSON; default: the column. */
  read?: string
  form?: Form
  /** The record that the value, or each value of a list, must name. */
  reference?: Reference
  children?: Children
}

/** Required of new values, but not of a value that is already stored: why a value is refused, after "It" in a sentence. */
export type Form = (value: unknown) => string | undefined

/** Rows of a child table: `schema` turns the value into objects with its columns, without `parent` and `shared`. */
export interface Children {
  table: string
  parent: string
  /** Other key columns, and the remaining ones. */
  key: readonly string[]
  rest: readonly string[]
  shared: readonly string[]
  /** The column with the order, unique among a parent's rows; default: the key. */
  position?: string
  /** SQL of one child (`child`) as JSON, in the record's form. */
  read: string
}

export type Options = Partial<Pick<Field, 'column' | 'initial' | 'kept' | 'reference'>>

/** `column` defaults to the field's name. */
export const field = <In, Out>(
  type: FieldType,
  { schema, output, allowed, read }: Pick<Field<In, Out>, 'schema' | 'output' | 'allowed' | 'read'>,
  about: string,
  options: Options = {},
): Field<In, Out> => ({ type, schema, output, allowed, about, column: '', ...(read && { read }), ...options })

/** The same rule as in the database: visible characters of any script, with spaces only between them. */
const ID =
  /^(?! )[^\p{Cc}\p{Cs}\u00a0\u00ad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]{1,255}(?<! )$/u
export const idSchema = z.string().regex(ID)
export const ID_ALLOWED = 'an id: 1 to 255 visible characters, with spaces only between them'

/** PostgreSQL's text has neither NUL nor lone surrogates. */
const TEXT = /^[^\0\p{Cs}]*$/u
export const textSchema = z.string().regex(TEXT)
export const MAX_TEXT_BYTES = 65_536
/** A text that is alone in its row, or counted with the others by a rule. */
export const boundedText = textSchema.refine(
  (value) => value.length * 3 <= MAX_TEXT_BYTES || Buffer.byteLength(value) <= MAX_TEXT_BYTES,
)

const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
/** 1 January of the year 1. */
const FIRST_TIME = -62_135_596_800_000

/** Unix time in milliseconds, or NaN. */
const toMilliseconds = (value: string | number) =>
  typeof value === 'number' ? Math.round(value * 1000) : Date.parse(value)

const timeSchema = z
  .union([
    z.number(),
    z
      .string()
      .transform(extendedTime)
      .pipe(z.iso.datetime({ offset: true })),
  ])
  .transform(toMilliseconds)
  .refine((ms) => ms >= FIRST_TIME && ms <= LAST_TIME)
  .transform((ms) => new Date(ms).toISOString())

export const id = (about: string, options?: Options) =>
  field<string, string>('id', { schema: idSchema, output: z.string(), allowed: ID_ALLOWED }, about, options)

const listTexts = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : []
}

const strayForm: Form = (value) => {
  const character = listTexts(value).map(strayIn).find(Boolean)
  return character && `has ${character} where it joins nothing: it belongs between letters or emoji`
}

const line: Form = (value) =>
  listTexts(value).every(isPlainLine)
    ? strayForm(value)
    : 'has control characters or line breaks, or characters that change the direction of text'

/** Accepts texts and lists of them, with line breaks. */
export const plain: Form = (value) =>
  listTexts(value).every(isPlainText)
    ? strayForm(value)
    : 'has control characters, or characters that change the direction of text'

/** A text on one line. */
export const text = (about: string, options?: Options): Field<string, string> => ({
  ...prose(about, options),
  form: line,
})

/** With line breaks. */
export const prose = (about: string, options?: Options): Field<string, string> => ({
  form: plain,
  ...field<string, string>(
    'text',
    {
      schema: boundedText,
      output: z.string(),
      allowed: `a text of at most ${MAX_TEXT_BYTES} bytes, without NUL`,
    },
    about,
    options,
  ),
})

/** An address, or empty. A stored value that is not an address does not block other changes. */
export const email = (about: string): Field<string, string> => ({
  ...text(about),
  form: (value) =>
    value === '' || isEmailAddress(String(value))
      ? undefined
      : 'is neither empty nor an e-mail address of at most 254 characters, such as name@example.org',
})

export const timeZone = (about: string, options?: Options): Field<string, string> => ({
  ...text(about, options),
  form: (value) =>
    isTimeZone(String(value)) ? undefined : 'is not the name of an IANA time zone, such as Europe/Vienna',
})

export const countryCode = (about: string) =>
  field<string, string>(
    'text',
    {
      schema: z.string().refine((value) => countries.has(value)),
      output: z.string(),
      allowed: 'a country: two letters of ISO 3166-1, such as AT',
    },
    about,
  )

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
      schema: z
        .string()
        .transform(extendedDate)
        .pipe(z.iso.date())
        .refine((value) => value >= '0001'),
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

/** Adds `null`, the default in a new record. */
export const optional = <In, Out>(of: Field<In, Out>): Field<In | null, Out | null> => ({
  initial: 'NULL',
  ...of,
  nullable: true,
  schema: of.schema.nullable(),
  output: of.output.nullable(),
  allowed: `${of.allowed}, or null`,
})
