import { z } from 'zod'
import { withError } from './errors.ts'

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
