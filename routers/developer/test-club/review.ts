import { z } from 'zod'
import type { Transaction } from '../../../prisma/client.ts'
import type { Published } from '../../kernel/context.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { decideReview } from '../../quizzes/review.ts'
import { quizReviewedType } from '../../webhooks/event-types.ts'
import type { Caller } from '../access/roles.ts'
import { lockTeamAs, roleIn } from '../access/roles.ts'
import { idOr } from '../shared/schemas.ts'
import { publishTestEvent } from '../webhook/test-event.ts'

/** The part of the academy's reviewer, which a test academy does not have. */
export const review = internal('dev:write', teamPeople, {
  summary: "Reviews a result of a team's test academy, and sends quiz.reviewed to the webhooks of the team's apps",
  fails: ['teamUnknown', 'resultUnknown', 'alreadyReviewed'],
})
  .input(
    z.object({
      team: idOr('teamUnknown'),
      result: idOr('resultUnknown'),
      correct: z.boolean().meta({ description: 'Whether the answers to all open questions are correct' }),
    }),
  )
  .output(z.object({ reviewStatus: z.enum(['passed', 'failed', 'pending_review']), deliveries: z.array(z.string()) }))
  .mutation(async ({ ctx, input: { team, result, correct } }) => {
    await roleIn(ctx, team)
    const { core } = ctx
    const { reviewStatus, events } = await core.db.$transaction(async (tx) => {
      await lockTeamAs(tx, ctx, { team })
      const found = await tx.quizResult.findFirst({
        where: { id: result, quiz: { academy: { testTeamId: team } } },
        select: {
          quizId: true,
          personId: true,
          quiz: { select: { academyId: true } },
          answers: { where: { correct: null }, select: { questionId: true } },
        },
      })
      if (!found) throw errors.resultUnknown()
      const { quizId, personId: memberId, answers } = found
      const { academyId } = found.quiz
      const grades = Object.fromEntries(answers.map(({ questionId }) => [questionId, correct]))
      const { reviewStatus } = await decideReview(tx, academyId, { result, grades })
      const data = JSON.stringify({ academyId, quizId, resultId: result, memberId })
      return { reviewStatus, events: await publishToAll(tx, ctx, team, data) }
    })
    for (const event of events) core.published(event)
    return { reviewStatus, deliveries: events.flatMap(({ deliveries }) => deliveries) }
  })

async function publishToAll(tx: Transaction, ctx: Caller, team: string, data: string): Promise<Published[]> {
  const apps = await tx.app.findMany({
    where: { teamId: team, team: { level: 'developer' }, state: 'active', webhookUrl: { not: null } },
    select: { id: true },
    orderBy: { id: 'asc' },
  })
  const events: Published[] = []
  for (const { id } of apps) {
    events.push(await publishTestEvent(tx, ctx, { id, team }, { type: quizReviewedType.type, data }))
  }
  return events
}
