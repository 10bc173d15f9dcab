/** The CHECK that bounds a column of the type, as PostgreSQL names it; undefined for types that bound themselves. */
export function findCheck(type: string, name: string, isKey: boolean): string | undefined {
  switch (type) {
    case 'text':
      return isKey ? `id_fits(${name})` : `texts_fit(${name})`
    case 'text[]':
      return `texts_fit(VARIADIC ${name})`
    case 'timestamp with time zone':
      return `time_fits(${name})`
    case 'date':
      return `${name} BETWEEN '0001-01-01' AND '9999-12-31'`
    case 'double precision':
      return `${name} NOT IN ('NaN', 'Infinity', '-Infinity')`
  }
}

const COLUMN =
  /^(?:(?:ALTER TABLE "\w+" )?ADD COLUMN| {3}) +"(\w+)" (TEXT(?:\[\])?|TIMESTAMPTZ\(3\)|DATE|DOUBLE PRECISION)(?![\w[]).*?(?=,?$)/gm

/** `texts_fit` refuses null, as lists have none among their texts. */
const orNull = (check: string, column: string, quoted: string) =>
  check.startsWith('texts_fit("') && !column.includes('NOT NULL') ? `${quoted} IS NULL OR ${check}` : check

/** Adds to the new columns of Prisma's SQL the CHECKs that its schema cannot express. A foreign key bounds its columns. */
export function withChecks(sql: string): string {
  return sql.replace(/^(?:CREATE|ALTER) TABLE "(\w+)"[^;]*/gm, (statement, table: string) => {
    const findColumns = (key: string) =>
      [...sql.matchAll(new RegExp(`TABLE "${table}"[^;]*${key} KEY \\(([^)]*)`, 'g'))].map(([, names]) => names).join()
    const [keys, references] = [findColumns('PRIMARY'), findColumns('FOREIGN')]
    return statement.replace(COLUMN, (column: string, name: string, written: string) => {
      const quoted = `"${name}"`
      const type = written === 'TIMESTAMPTZ(3)' ? 'timestamp with time zone' : written.toLowerCase()
      const check = references.includes(quoted) ? undefined : findCheck(type, quoted, keys.includes(quoted))
      return check ? `${column} CHECK (${orNull(check, column, quoted)})` : column
    })
  })
}
