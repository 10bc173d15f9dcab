const special = /["\\]/g

/**
 * An array in PostgreSQL's text format. NUL, which its text cannot represent, becomes U+FFFD, as a receiver's response may have
 * one.
 */
export function toArrayLiteral(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map(literal).join(',')}}`
}

function literal(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value)
  return `"${value.replaceAll('\0', '\ufffd').replace(special, '\\$&')}"`
}
