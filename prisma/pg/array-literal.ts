/** The oid of PostgreSQL's type text. */
const TEXT = 25
const [HEADER_BYTES, LENGTH_BYTES] = [20, 4]

const countBytes = (value: string | Buffer | null) => (value === null ? 0 : Buffer.byteLength(value))

/** A `text[]` in PostgreSQL's binary format: unlike in an array literal, megabytes are neither escaped nor copied twice. */
export function encodeTextArray(values: readonly (string | Buffer | null)[]): Buffer {
  const size = values.reduce((sum, value) => sum + LENGTH_BYTES + countBytes(value), HEADER_BYTES)
  const array = Buffer.allocUnsafeSlow(size)
  const [dimensions, hasNulls, firstIndex] = [1, values.includes(null) ? 1 : 0, 1]
  let at = 0
  for (const field of [dimensions, hasNulls, TEXT, values.length, firstIndex]) at = array.writeInt32BE(field, at)
  for (const value of values) {
    at = array.writeInt32BE(value === null ? -1 : countBytes(value), at)
    if (value !== null) at += typeof value === 'string' ? array.write(value, at) : value.copy(array, at)
  }
  return array
}

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
