import type { Transactional } from '../../prisma/pg/execute.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { instants, ints, statement, texts } from '../../prisma/pg/statement.ts'

const types = { text: texts, timestamptz: instants, int: ints } as const

interface Values {
  text: string | null
  timestamptz: number
  int: number
}

type Columns = Record<string, keyof Values>
export type Line<C extends Columns> = { readonly [K in keyof C]: Values[C[K]] }

interface Bounds<C extends Columns> {
  /** The name of the statement. */
  name: string
  table: string
  columns: C
  /** The column whose rows are counted, with an index on it and `at`. */
  per: keyof C & string
  /** Rows of a minute. */
  minute: number
}

/** Declares a statement that stores rows, of each minute only the first, also with those that are stored already. */
export function storeBounded<const C extends Columns & { at: 'timestamptz' }>(bounds: Bounds<C>) {
  const { name, table, columns, per, minute } = bounds
  const names = Object.keys(columns)
  const list = names.map((column) => `"${column}"`).join(', ')
  const store = statement(
    name,
    `WITH line AS (
      SELECT *, date_trunc('minute', at) AS minute,
        row_number() OVER (PARTITION BY "${per}", date_trunc('minute', at) ORDER BY at) AS number
      FROM unnest(${names.map((column) => `$${column}::${columns[column]}[]`).join(', ')}) AS given (${list})
    ), kept AS (
      SELECT "${per}", minute, (SELECT count(*) FROM "${table}" stored WHERE stored."${per}" = line."${per}"
        AND stored.at >= minute AND stored.at < minute + interval '1 minute') AS lines
      FROM line GROUP BY "${per}", minute
    )
    INSERT INTO "${table}" (${list}) SELECT ${list}
    FROM line JOIN kept USING ("${per}", minute) WHERE number + lines <= ${minute} ORDER BY at`,
    Object.fromEntries(names.map((column) => [column, types[columns[column]!]])),
    {},
  )
  return async (connection: Transactional, rows: readonly Line<C>[]): Promise<void> => {
    if (rows.length === 0) return
    const values = Object.fromEntries(names.map((column) => [column, rows.map((row) => row[column])]))
    // Each list has the type that `columns` gives it, which the compiler cannot follow through `fromEntries`.
    await executeIn(connection, store, values as never)
  }
}

/** Declares a statement that removes all but the newest `kept` rows of each value of `per`. */
export function keepNewest(name: string, { table, per, kept }: { table: string; per: string; kept: number }) {
  const remove = statement(
    name,
    `DELETE FROM "${table}" WHERE ctid = ANY (ARRAY(SELECT former.ctid FROM unnest($owners::text[]) AS owner
        CROSS JOIN LATERAL (SELECT at, id FROM "${table}" WHERE "${per}" = owner ORDER BY at DESC, id DESC OFFSET ${kept - 1} LIMIT 1) oldest
      JOIN "${table}" former ON former."${per}" = owner AND (former.at, former.id) < (oldest.at, oldest.id)
      FOR UPDATE OF former SKIP LOCKED))`,
    { owners: texts },
    {},
  )
  return async (connection: Transactional, owners: readonly string[]): Promise<void> => {
    if (owners.length > 0) await executeIn(connection, remove, { owners: [...new Set(owners)] })
  }
}
