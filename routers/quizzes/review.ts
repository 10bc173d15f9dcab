import { z } from 'zod'
import type { Transaction } from '../../prisma/client.ts'
import { isPostgresText } from '../access.ts'
import type { Admitted } from '../context.ts'
import { errors, withError } from '../errors.ts'
import { academyPlatform, internal } from '../trpc.ts'
import { verdict } from './grade.ts'
import type { Result } from './result.ts'
import { result } from './result.ts'
import { retried } from './submit.ts'

/** Question id to whether the answer is right. */
type Grades = Readonly<Record<string, boolean>>

/** One check over the whole, as for the answers of an attempt: z.record would drop `__proto__`. */
const grades = z.custom<Grades>(
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((grade) => typeof grade === 'boolean'),
  withError('gradesInvalid'),
)

const input = z.object({ result: z.string(), grades })

/**
 * Quiz result transitions: `pending_review` to `passed` or `failed`, once. A person grades what the machine could not,
 * and the score then covers all questions; the result is changed with its answers, or nothing is.
 */
export const review = internal('lms.reviews:write', academyPlatform, {
  summary: 'Grades the open questions of a result',
  fails: ['resultUnknown', 'alreadyReviewed', 'gradesInvalid'],
})
  .input(input)
  .output(result)
  .mutation(({ ctx, input }) => retried(() => ctx.db.$transaction((tx) => decide(tx, ctx, input))))

/** In the documented order of refusals: result, state, grades. The lock lets of several reviews the first one win. */
async function decide(tx: Transaction, ctx: Admitted, { result: id, grades }: z.output<typeof input>): Promise<Result> {
  const found = await lockResult(tx, id, ctx.principal.organisation)
  if (!found) throw errors.resultUnknown()
  if (found.reviewStatus !== 'pending_review') throw errors.alreadyReviewed()
  const answers = await tx.answer.findMany({
    where: { resultId: id },
    select: { questionId: true, correct: true },
  })
  const open = answers.filter(({ correct }) => correct === null)
  const isWhole = open.length === Object.keys(grades).length
  if (!isWhole || !open.every(({ questionId }) => Object.hasOwn(grades, questionId))) throw errors.gradesInvalid()

  const right = open.map(({ questionId }) => questionId).filter((question) => grades[question])
  const correct = answers.filter((answer) => answer.correct).length + right.length
  const { score, passed } = verdict(correct, answers.length, found.threshold)
  const outcome = { score, passed, reviewStatus: passed ? 'passed' : 'failed' } as const
  await tx.quizResult.update({ where: { id }, data: outcome, select: { id: true } })
  await tx.$executeRaw`UPDATE "Answer" SET correct = ("questionId" = ANY(${right}))
    WHERE "resultId" = ${id} AND correct IS NULL`
  return { id, ...outcome, gradedQuestions: found.gradedQuestions }
}

interface Found {
  reviewStatus: Result['reviewStatus']
  threshold: number
  gradedQuestions: number
}

/** The result as it is now, of that academy, held until the transaction ends. */
async function lockResult(tx: Transaction, id: string, academy: string): Promise<Found | undefined> {
  // The organisation of a token without a member is a name that nothing has looked at yet.
  if (!isPostgresText(id) || !isPostgresText(academy)) return undefined
  const [found] = await tx.$queryRaw<Found[]>`
    SELECT "reviewStatus"::text AS "reviewStatus", "QuizResult".threshold, "gradedQuestions"
    FROM "QuizResult" JOIN "Quiz" ON "Quiz".id = "quizId"
    WHERE "QuizResult".id = ${id} AND "academyId" = ${academy}
    FOR NO KEY UPDATE OF "QuizResult"`
  return found
}
