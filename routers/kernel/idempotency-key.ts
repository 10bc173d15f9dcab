import { z } from 'zod'
import { withError } from './errors.ts'
import { DAY_MS } from './time.ts'

export const idempotencyKey = z
  .string(withError('idempotencyKeyInvalid'))
  .regex(/^[!-~]{1,255}$/, withError('idempotencyKeyInvalid'))

/** Keys used at this time or earlier have expired. */
export const expiry = (now: number) => new Date(now - DAY_MS)
