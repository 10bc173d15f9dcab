import { z } from 'zod'

export const quizId = z.string().meta({ description: 'Id of the quiz.', examples: ['choice-quiz'] })

export const result = z
  .object({
    id: z.string().meta({ description: 'Id of the result.', examples: ['8f4b2c5e-3d0a-4a57-9c35-0f6f1d6a2b11'] }),
    score: z.number().meta({
      description: 'Percentage of the machine-gradable questions, rounded to two decimals.',
      examples: [66.67],
    }),
    passed: z.boolean().meta({
      description: "Whether the quiz's threshold is reached; false while a review is pending.",
      examples: [true],
    }),
    reviewStatus: z.enum(['passed', 'failed', 'pending_review']).meta({
      description: 'Outcome; `pending_review` when the quiz has text, image or file questions.',
      examples: ['passed'],
    }),
    gradedQuestions: z
      .int()
      .min(0)
      .meta({ description: 'Number of questions graded automatically: all choice questions.', examples: [3] }),
  })
  .meta({ title: 'QuizResult', description: 'The result of an attempt.' })

export type Result = z.output<typeof result>
