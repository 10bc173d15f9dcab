import { z } from 'zod'
import { says } from './errors.ts'

/** Which part of a list: up to `limit` items, after `offset` others. */
export const page = {
  limit: z.int(says('limitInvalid')).min(1, says('limitInvalid')).max(200, says('limitInvalid')).default(50),
  offset: z.int(says('offsetInvalid')).min(0, says('offsetInvalid')).default(0),
}
