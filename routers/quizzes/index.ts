import { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { errors, withError } from '../errors.ts'
import { learner } from '../policies.ts'
import { router } from '../trpc.ts'
import type { Answers } from './grade.ts'
import { grade } from './grade.ts'
import { hashOf, replay, shared } from './idempotency.ts'
import type { Result } from './result.ts'
import { result } from './result.ts'
import { review } from './review.ts'
import type { LearnerContext } from './submit.ts'
import { findQuiz, placeOf, retried, store } from './submit.ts'

const answer = { anyOf: [{ type: 'string' as const }, { type: 'array' as const, items: { type: 'string' as const } }] }

/** One check of the whole object: z.record would drop `__proto__` and report every bad entry. */
const answers = z
  .custom<Answers>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    withError('answersInvalid'),
  )
  .meta({
    description: 'Question id to answer: the chosen text, all chosen texts (multiple), the text, or its address',
    override: { type: 'object', additionalProperties: answer },
  })

const idempotencyKey = z
  .string(withError('idempotencyKeyInvalid'))
  .regex(/^[!-~]{1,255}$/, withError('idempotencyKeyInvalid'))

const input = z.object({ quizId: z.string(), idempotencyKey: idempotencyKey.optional(), answers })

/**
 * Grades one attempt and stores it with its answers. A repeated `Idempotency-Key` returns the first result again, even
 * after the quiz has closed or its attempts are used up.
 */
const submit = endpoint('POST /quizzes/{quizId}/results', 'lms.me.quizzes:write', learner, {
  summary: 'Submits the answers of one attempt',
  status: 201,
  headers: { idempotencyKey: 'Idempotency-Key' },
  fails: [
    'questionUnknown',
    'answerMisfit',
    'quizUnknown',
    'idempotencyMismatch',
    'quizClosed',
    'quizEmpty',
    'attemptsExhausted',
  ],
})
  .input(input)
  .output(result)
  .mutation(({ ctx, input }) => retried(() => attempt(ctx, input)))

/** Documented order of refusals: quiz, key, state, answers. */
async function attempt(
  ctx: LearnerContext,
  { quizId, idempotencyKey, answers }: z.output<typeof input>,
): Promise<Result> {
  const place = placeOf(ctx, quizId, idempotencyKey)
  const quiz = await findQuiz(ctx.core, place)
  if (!quiz) throw errors.quizUnknown()
  const [kept] = quiz.idempotency
  if (kept) return replay(kept, answers)
  if (quiz.state === 'closed') throw errors.quizClosed()
  if (quiz.questions.length === 0) throw errors.quizEmpty()
  // Counted without a lock, to refuse without a transaction; `store` counts again under the lock.
  if (quiz._count.results >= (quiz.attemptsAllowed ?? Infinity)) throw errors.attemptsExhausted()

  const graded = { place, quiz, grading: grade(quiz, answers), now: ctx.core.now() }
  if (idempotencyKey === undefined) return store(ctx.core.db, graded, null)
  const bodyHash = hashOf(answers)
  return shared(ctx.core.db, place, bodyHash, () => store(ctx.core.db, graded, bodyHash))
}

export const quizzes = router({ submit, review })
