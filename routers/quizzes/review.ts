import { z } from 'zod'
import type { Transaction } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { float, int, oneOf, statement, text, texts } from '../../prisma/pg/statement.ts'
import { isPostgresText } from '../kernel/access.ts'
import { retryingConflicts } from '../kernel/database-errors.ts'
import { internal } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import { academyPlatform } from '../kernel/policies.ts'
import { verdict } from './grade.ts'
import type { Result } from './result.ts'
import { result } from './result.ts'

/** Question id to whether the answer is correct. */
type Grades = Readonly<Record<string, boolean>>

/** One check of the whole object: z.record would drop `__proto__`. */
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
 * Moves a result from `pending_review` to `passed` or `failed`, once. A person grades the open questions; the score then
 * covers all questions.
 */
export const review = internal('lms.reviews:write', academyPlatform, {
  summary: 'Grades the open questions of a result',
  fails: ['resultUnknown', 'alreadyReviewed', 'gradesInvalid'],
})
  .input(input)
  .output(result)
  .mutation(async ({ ctx: { core, academy }, input }) => {
    const reviewed = await retryingConflicts(() => core.db.$transaction((tx) => decideReview(tx, academy, input)))
    core.due.wake()
    return reviewed
  })

/** Documented order of refusals: result, state, grades. Of concurrent reviews, the lock lets the first win. */
export async function decideReview(
  tx: Transaction,
  academy: string,
  { result: id, grades }: z.output<typeof input>,
): Promise<Result> {
  const found = await lockResult(tx, id, academy)
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
  await executeIn(tx, statements.grade, { right, id })
  return { id, ...outcome, gradedQuestions: found.gradedQuestions }
}

const statements = {
  grade: statement(
    'quiz_grade_answers',
    'UPDATE "Answer" SET correct = ("questionId" = ANY($right)) WHERE "resultId" = $id AND correct IS NULL',
    { right: texts, id: text },
    {},
  ),
  lock: statement(
    'quiz_lock_result',
    `SELECT "reviewStatus", "QuizResult".threshold, "gradedQuestions"
      FROM "QuizResult" JOIN "Quiz" ON "Quiz".id = "quizId"
      WHERE "QuizResult".id = $id AND "academyId" = $academy
      FOR NO KEY UPDATE OF "QuizResult"`,
    { id: text, academy: text },
    { reviewStatus: oneOf('passed', 'failed', 'pending_review'), threshold: float, gradedQuestions: int },
  ),
}

/** Locks the result until the transaction ends; undefined when the academy has no such result. */
async function lockResult(tx: Transaction, id: string, academy: string) {
  if (!isPostgresText(id)) return undefined
  const [found] = await executeIn(tx, statements.lock, { id, academy })
  return found
}
