/** A value in PostgreSQL's text format. */
export type Text = string | null

/** A value of `$1`, `$2`, …; large texts are given in UTF-8. */
export type Parameter = Text | Buffer

/** Decodes a column's text, and lists the PostgreSQL types (oids) that it accepts. */
export interface Column<T> {
  oids: readonly number[]
  /** Labels of an enum that is accepted as well if it has exactly these. */
  labels?: readonly string[]
  nullable: boolean
  parse: (text: string) => T
}

type Columns = Record<string, Column<unknown>>
type Row<C extends Columns> = { [K in keyof C]: C[K] extends Column<infer T> ? T : never }

export interface Statement<R = unknown> {
  /** Each connection plans the statement once, under this name. */
  name: string
  text: string
  columns: Columns
  decode: (fields: readonly Text[]) => R
}

/** Every statement of the modules loaded so far; test/prisma/statements.test.ts compares each with the server's description. */
export const declaredStatements = new Map<string, Statement>()

/**
 * Declares a statement; `columns` names its result columns in the order of its SELECT or RETURNING list. Throws when another text
 * has the name: on a connection, the one planned first would run for both.
 */
export function statement<C extends Columns>(name: string, text: string, columns: C): Statement<Row<C>> {
  if ((declaredStatements.get(name)?.text ?? text) !== text) throw new Error(`Two statements are named ${name}.`)
  const declared = { name, text, columns, decode: rowDecoder(name, columns) }
  declaredStatements.set(name, declared)
  return declared
}

/** A loop: generated code would save 15 us of a LIST of 50 entries, which takes 450 (npm run bench). */
function rowDecoder<C extends Columns>(statement: string, columns: C): Statement<Row<C>>['decode'] {
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

const column = <T>(oids: readonly number[], parse: (text: string) => T): Column<T> => ({ oids, nullable: false, parse })

const TEXT = 25

export const nullable = <T>(of: Column<T>): Column<T | null> => ({ ...of, nullable: true })

export const text = column([TEXT], (value) => value)

export const uuid = column([2950], (value) => value)

export const bool = column([16], (value) => value === 't')

/** int4, int8 or float8. Throws outside the safe integers. */
export const int = column([23, 20, 701], (value) => {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new Error(`${value} is not a safe integer.`)
  return number
})

/** float8, in the shortest exact text (extra_float_digits is at least 1). */
export const float = column([701], Number)

/** `YYYY-MM-DD`: the service's sessions have the DateStyle ISO. */
export const date = column([1082], (value) => value)

/** PostgreSQL's notation, whose microseconds a Date would lose. */
export const timestamp = column([1184], (value) => value)

export const json = <T>() => column([114], (value): T => JSON.parse(value))

/** The result of json_agg over rows. */
export const jsonArray = <T>() => json<T[]>()

/** The result of json_agg over a text column, or of `listOf`. */
export const jsonStrings = jsonArray<string>()

/** A column that is a list of Prisma's, in JSON: it may be null, which is empty for Prisma. */
export const listOf = (column: string) => `to_json(coalesce(${column}, '{}'))`

/** A text or an enum. Throws on any other value. */
export function oneOf<const L extends string>(...labels: L[]): Column<L> {
  const parse = (value: string) => {
    const label = labels.find((one) => one === value)
    if (label === undefined) throw new Error(`${value} is none of ${labels}.`)
    return label
  }
  return { ...column([TEXT], parse), labels }
}
