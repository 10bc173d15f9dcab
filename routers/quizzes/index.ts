import { z } from 'zod'
import type { Admitted } from '../context.ts'
import { errors, withError } from '../errors.ts'
import { endpoint, learners, router } from '../trpc.ts'
import type { Answers } from './grade.ts'
import { grade } from './grade.ts'
import { hashOf, replay, shared } from './idempotency.ts'
import type { Result } from './result.ts'
import { result } from './result.ts'
import { review } from './review.ts'
import { findQuiz, placeOf, retried, store } from './submit.ts'

const answer = { anyOf: [{ type: 'string' as const }, { type: 'array' as const, items: { type: 'string' as const } }] }

/** One check over the whole: z.record would drop `__proto__`, and make an issue of every bad entry. */
const answers = z
  .custom<Answers>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    withError('answersInvalid'),
  )
  .meta({
    description: 'Question id to answer: the chosen text, all chosen texts (multiple), the text, or the address of it',
    override: { type: 'object', additionalProperties: answer },
  })

const idempotencyKey = z
  .string(withError('idempotencyKeyInvalid'))
  .regex(/^[!-~]{1,255}$/, withError('idempotencyKeyInvalid'))

const input = z.object({ quizId: z.string(), idempotencyKey: idempotencyKey.optional(), answers })

/**
 * Quiz result transitions: grades one attempt and stores it with its answers, or stores nothing. A repeated
 * `Idempotency-Key` gets the first answer again, whatever the quiz has become.
 */
const submit = endpoint('POST /quizzes/{quizId}/results', 'lms.me.quizzes:write', learners, {
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

/** In the documented order of refusals: quiz, key, state, answers. */
async function attempt(ctx: Admitted, { quizId, idempotencyKey, answers }: z.output<typeof input>): Promise<Result> {
  const place = placeOf(ctx, quizId, idempotencyKey)
  const quiz = await findQuiz(ctx, place)
  if (!quiz) throw errors.quizUnknown()
  const [kept] = quiz.idempotency
  if (kept) return replay(kept, answers)
  if (quiz.state === 'closed') throw errors.quizClosed()
  if (quiz.questions.length === 0) throw errors.quizEmpty()
  // Seen without a lock, so that bad answers are refused without a transaction; counted again before anything is stored.
  if (quiz._count.results >= (quiz.attemptsAllowed ?? Infinity)) throw errors.attemptsExhausted()

  const graded = { place, quiz, grading: grade(quiz, answers), now: ctx.now() }
  if (idempotencyKey === undefined) return store(ctx.db, graded, null)
  const bodyHash = hashOf(answers)
  return shared(ctx.db, place, bodyHash, () => store(ctx.db, graded, bodyHash))
}

export const quizzes = router({ submit, review })
