import { z } from 'zod'

/** How an attempt went: what its submission is answered with, and its review. */
export const result = z.object({
  id: z.string(),
  score: z.number().meta({ description: 'percent of the machine-gradable questions, two decimals' }),
  passed: z.boolean(),
  reviewStatus: z.enum(['passed', 'failed', 'pending_review']),
  gradedQuestions: z.int().min(0),
})

export type Result = z.output<typeof result>
