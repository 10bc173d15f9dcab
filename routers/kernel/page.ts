import { z } from 'zod'
import { withError } from './errors.ts'
import { DAY_MS } from './time.ts'

export const idempotencyKey = z
  .string(withError('idempotencyKeyInvalid'))
  .regex(/^[!-~]{1,255}$/, withError('idempotencyKeyInvalid'))

/** Keys used at this time or earlier have expired. */
export const expiry = (now: number) => new Date(now - DAY_MS)

/** A malformed app id is 422 in queries and 400 in mutations. */
export function appId(name: string) {
  const invalid = { error: `${name} must be 1 to 64 letters, digits, '_' or '-'.` }
  return z.string(invalid).regex(/^[A-Za-z0-9_-]{1,64}$/, invalid)
}

export const page = {
  limit: z
    .int(withError('limitInvalid'))
    .min(1, withError('limitInvalid'))
    .max(200, withError('limitInvalid'))
    .default(50)
    .meta({ description: 'Maximum number of entries to return.', examples: [50] }),
  offset: z
    .int(withError('offsetInvalid'))
    .min(0, withError('offsetInvalid'))
    .default(0)
    .meta({ description: 'Number of entries to skip.', examples: [0] }),
}
