import { z } from 'zod'
import { isPostgresText } from '../kernel/access.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { errors } from '../kernel/errors.ts'
import { learner } from '../kernel/policies.ts'
import { toUnix } from '../kernel/time.ts'
import { quizId, result } from './result.ts'

const resultId = z.string().meta({ description: 'Id of the result.', examples: ['result-1'] })

const output = result
  .extend({
    quizId,
    threshold: z
      .number()
      .meta({ description: 'Percentage that was needed to pass when the attempt was submitted.', examples: [60] }),
    submittedAt: z
      .int()
      .meta({ description: 'When the attempt was submitted, in Unix seconds.', examples: [1777802400] }),
  })
  .meta({ title: 'QuizResult', description: 'The result of an attempt, as it is now.' })

/** Returns 404 for results of others, as for unknown ones. */
export const getResult = endpoint('GET /quiz-results/{resultId}', 'lms.me.quizzes:read', learner, {
  section: 'sync',
  summary: 'The result of an attempt',
  description:
    "One of the member's own results. While it is `pending_review`, `score` covers the choice questions and `passed` is false; after the review, `score` covers all questions.",
  returns: 'The result as it is now.',
  fails: ['resultUnknown'],
})
  .input(z.object({ resultId }))
  .output(output)
  .query(async ({ ctx: { core, member, academy }, input: { resultId: id } }) => {
    const where = { id, personId: member, quiz: { academyId: academy } }
    const found = isPostgresText(id) && (await core.db.quizResult.findFirst({ where, omit: { personId: true } }))
    if (!found) throw errors.resultUnknown()
    return { ...found, submittedAt: toUnix(found.submittedAt) }
  })
