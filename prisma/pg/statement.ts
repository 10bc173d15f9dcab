import { encodeTextArray, toArrayLiteral } from './array-literal.ts'
import { numberParameters } from './named-parameters.ts'

/** A value in PostgreSQL's text format. */
export type Text = string | null

/** A parameter in PostgreSQL's text format, or in its binary format. */
export type Parameter = Text | Buffer

/** The PostgreSQL types (oids) that fit. */
export interface Fitting {
  oids: readonly number[]
  /** Labels of an enum that is accepted as well if it has exactly these. */
  labels?: readonly string[]
  nullable: boolean
}

/** Decodes a column's text. */
export interface Column<T> extends Fitting {
  parse: (text: string) => T
}

/** Encodes a parameter; null is not passed to it. */
export interface ParameterType<T> extends Fitting {
  format: (value: T) => Parameter
}

export interface Type<Read, Written = Read> extends Column<Read>, ParameterType<Written> {}

type Columns = Record<string, Column<unknown>>
type Row<C extends Columns> = { [K in keyof C]: C[K] extends Column<infer T> ? T : never }

type Parameters = Record<string, ParameterType<never>>
type Values<P extends Parameters> = { [K in keyof P]: P[K] extends ParameterType<infer T> ? T : never }

export interface Statement<in V = never, out R = unknown> {
  /** Each connection plans the statement once, under this name. */
  name: string
  /** With numbers for its parameters. */
  text: string
  parameters: Parameters
  columns: Columns
  encode: (values: V) => Parameter[]
  decode: (fields: readonly Text[]) => R
}

/** Every statement of the modules loaded so far; test/prisma/statements.test.ts compares each with the server's description. */
export const declaredStatements = new Map<string, Statement>()

/**
 * Declares a statement. `text` has its parameters as `$name`; `columns` names its result columns in the order of its SELECT or
 * RETURNING list. Throws when another text has the name: on a connection, the one planned first would run for both.
 */
export function statement<P extends Parameters, C extends Columns>(
  name: string,
  text: string,
  parameters: P,
  columns: C,
): Statement<Values<P>, Row<C>> {
  const numbered = numberParameters(text, Object.keys(parameters))
  if ((declaredStatements.get(name)?.text ?? numbered) !== numbered)
    throw new Error(`Two statements are named ${name}.`)
  const declared = {
    name,
    text: numbered,
    parameters,
    columns,
    encode: encoder(parameters),
    decode: rowDecoder(name, columns),
  }
  declaredStatements.set(name, declared)
  return declared
}

/**
 * 0.2 us for the twelve parameters of storage_write. On the path of a request, `values` is best one literal: on Node 20, each
 * property after a spread takes 0.8 us.
 */
function encoder<P extends Parameters>(parameters: P): Statement<Values<P>>['encode'] {
  const names = Object.keys(parameters)
  const formats = Object.values(parameters).map(({ format }) => format as (value: unknown) => Parameter)
  return (values) => {
    const encoded = new Array<Parameter>(names.length)
    for (let i = 0; i < names.length; i++) {
      const value: unknown = values[names[i]!]
      encoded[i] = value === null ? null : formats[i]!(value)
    }
    return encoded
  }
}

/** A loop: generated code would save 15 us of a LIST of 50 entries, which takes 450 (npm run bench). */
function rowDecoder<C extends Columns>(statement: string, columns: C): Statement<never, Row<C>>['decode'] {
  const names = Object.keys(columns)
  const types = Object.values(columns)
  return (fields) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < names.length; i++) {
      const field = fields[i] ?? null
      const { nullable, parse } = types[i]!
      if (field === null && !nullable) throw new Error(`Column ${names[i]} of statement ${statement} is null.`)
      row[names[i]!] = field === null ? null : parse(field)
    }
    return row as Row<C>
  }
}

const TEXT = 25
const TEXTS = 1009

const asText = (value: string | number | boolean | bigint) => String(value)

const type = <Read, Written = Read>(
  oids: readonly number[],
  parse: (text: string) => Read,
  format: (value: Written) => Parameter,
): Type<Read, Written> => ({ oids, nullable: false, parse, format })

/** A type of parameters alone. */
const parameter = <T>(oids: readonly number[], format: (value: T) => Parameter): ParameterType<T> => ({
  oids,
  nullable: false,
  format,
})

export function nullable<Read, Written>(of: Type<Read, Written>): Type<Read | null, Written | null>
export function nullable<Read>(of: Column<Read>): Column<Read | null>
export function nullable<Written>(of: ParameterType<Written>): ParameterType<Written | null>
export function nullable(of: Fitting): Fitting {
  return { ...of, nullable: true }
}

/** A large parameter may be given in UTF-8. */
export const text = type<string, string | Buffer>(
  [TEXT],
  (value) => value,
  (value) => value,
)

export const uuid = type<string>(
  [2950],
  (value) => value,
  (value) => value,
)

export const bool = type<boolean>([16], (value) => value === 't', asText)

/** int4, int8 or float8. Throws on a column outside the safe integers. */
export const int = type<number>(
  [23, 20, 701],
  (value) => {
    const number = Number(value)
    if (!Number.isSafeInteger(number)) throw new Error(`${value} is not a safe integer.`)
    return number
  },
  asText,
)

export const bigint = type<bigint>([20], BigInt, asText)

/** float8, in the shortest exact text (extra_float_digits is at least 1). */
export const float = type<number>([701], Number, asText)

/** `YYYY-MM-DD`: the service's sessions have the DateStyle ISO. */
export const date = type<string>(
  [1082],
  (value) => value,
  (value) => value,
)

/** PostgreSQL's notation, whose microseconds a Date would lose. */
export const timestamp = type<string>(
  [1184],
  (value) => value,
  (value) => value,
)

const iso = (time: number | Date) => new Date(time).toISOString()

/** A time in whole milliseconds, as the service's own are: Unix milliseconds or a Date. */
export const instant = type<Date, number | Date>(
  [1184],
  (value) => new Date(value.replace(' ', 'T').replace(/\+00$/, 'Z')),
  iso,
)

export const bytea = type<Buffer>(
  [17],
  (value) => Buffer.from(value.slice(2), 'hex'),
  (value) => value,
)

export const json = <T>() =>
  type<T>(
    [114, 3802],
    (value): T => JSON.parse(value),
    (value: T) => JSON.stringify(value),
  )

/** The text of a JSON value. */
export const jsonText = parameter<string>([114, 3802], (value) => value)

/** The result of json_agg over rows. */
export const jsonArray = <T>() => json<T[]>()

/** The result of json_agg over a text column, or of `listSql`. */
export const jsonStrings = jsonArray<string>()

/** A column that is a list of Prisma's, in JSON: it may be null, which is empty for Prisma. */
export const listSql = (column: string) => `to_json(coalesce(${column}, '{}'))`

/** A text or an enum. Throws on any other value. */
export function oneOf<const L extends string>(...labels: L[]): Type<L> {
  const parse = (value: string) => {
    const label = labels.find((one) => one === value)
    if (label === undefined) throw new Error(`${value} is none of ${labels}.`)
    return label
  }
  return { ...type([TEXT], parse, (value: L) => value), labels }
}

export const texts = parameter<readonly (string | null)[]>([TEXTS], toArrayLiteral)

/** Already encoded, by `toArrayLiteral`: for values that many executions have in common. */
export const encodedTexts = parameter<string>([TEXTS], (values) => values)

/** In binary: megabytes are not escaped. */
export const largeTexts = parameter<readonly (string | Buffer | null)[]>([TEXTS], encodeTextArray)

/** int4 or int8. */
export const ints = parameter<readonly (number | null)[]>([1007, 1016], toArrayLiteral)

export const bools = parameter<readonly (boolean | null)[]>([1000], toArrayLiteral)

export const instants = parameter<readonly (number | Date | null)[]>([1185], (times) =>
  toArrayLiteral(times.map((time) => (time === null ? null : iso(time)))),
)
