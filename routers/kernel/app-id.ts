import { z } from 'zod'

/** A malformed app id is 422 in queries and 400 in mutations. */
export function appId(name: string) {
  const invalid = { error: `${name} must be 1 to 64 letters, digits, '_' or '-'.` }
  return z.string(invalid).regex(/^[A-Za-z0-9_-]{1,64}$/, invalid)
}
