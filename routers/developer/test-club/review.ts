import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { decideReview } from '../../quizzes/review.ts'
import { roleIn } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { idOr } from '../shared/schemas.ts'
import { beginChange } from './begin.ts'

/** The part of the academy's reviewer, which a test academy does not have. */
export const review = internal('dev:write', teamPeople, {
  summary: "Reviews a result of a team's test academy",
  fails: ['teamUnknown', 'resultUnknown', 'alreadyReviewed'],
})
  .input(
    z.object({
      team: idOr('teamUnknown'),
      result: idOr('resultUnknown'),
      correct: z.boolean().meta({ description: 'Whether the answers to all open questions are correct' }),
    }),
  )
  .output(z.object({ reviewStatus: z.enum(['passed', 'failed', 'pending_review']) }))
  .mutation(async ({ ctx, input: { team, result, correct } }) => {
    await roleIn(ctx, team)
    const { core } = ctx
    const reviewStatus = await auditing(core.db, toAuthor(ctx), async (tx, note) => {
      await beginChange(tx, ctx, team)
      const found = await tx.quizResult.findFirst({
        where: { id: result, quiz: { academy: { testTeamId: team } } },
        select: {
          quiz: { select: { academyId: true } },
          answers: { where: { correct: null }, select: { questionId: true } },
        },
      })
      if (!found) throw errors.resultUnknown()
      const grades = Object.fromEntries(found.answers.map(({ questionId }) => [questionId, correct]))
      const { reviewStatus } = await decideReview(tx, found.quiz.academyId, { result, grades })
      await note({ team, action: 'testClub.review', target: result, after: { correct } })
      return reviewStatus
    })
    core.due.wake()
    return { reviewStatus }
  })
