const special = /["\\]/g

/** A list as PostgreSQL reads an array. What its text cannot hold, a NUL, is replaced: an answer may have brought it. */
export function arrayOf(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map(literal).join(',')}}`
}

function literal(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value)
  return `"${value.replaceAll('\0', '\ufffd').replace(special, '\\$&')}"`
}
