import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { retryingConflicts } from '../kernel/database-errors.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import { idempotencyKey } from '../kernel/page.ts'
import { learner } from '../kernel/policies.ts'
import { router } from '../kernel/trpc.ts'
import { get } from './get.ts'
import { getResult } from './get-result.ts'
import type { Answers } from './grade.ts'
import { grade } from './grade.ts'
import { hashAnswers, replay, shared } from './idempotency.ts'
import type { Result } from './result.ts'
import { quizId, result } from './result.ts'
import { review } from './review.ts'
import { findQuiz, storeAttempt } from './statements.ts'

const answer = { anyOf: [{ type: 'string' as const }, { type: 'array' as const, items: { type: 'string' as const } }] }

/** One check of the whole object: z.record would drop `__proto__` and report every bad entry. */
const answers = z
  .custom<Answers>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    withError('answersInvalid'),
  )
  .meta({
    description:
      'Question id to answer. Single choice: the chosen text. Multiple choice: an array of all chosen texts. Text: the text. Image or file: the address of the submission.',
    examples: [{ q1: 'Green', q3: ['A', 'C'] }],
    override: { type: 'object', additionalProperties: answer },
  })

const input = z.object({
  quizId,
  idempotencyKey: idempotencyKey
    .meta({
      description:
        '1 to 255 visible ASCII characters. The same key with the same body within 24 hours returns the first result again and stores no other, so that an attempt can be repeated when the response was lost.',
      examples: ['6d1f3c0e-attempt-1'],
    })
    .optional(),
  answers,
})

/**
 * Grades one attempt and stores it with its answers. A repeated `Idempotency-Key` returns the first result again, even
 * after the quiz has closed or its attempts are used up.
 */
const submit = endpoint('POST /quizzes/{quizId}/results', 'lms.me.quizzes:write', learner, {
  summary: 'Submits the answers of one attempt',
  description:
    'Grades the answers against the stored solution and stores the attempt. All choice questions have equal weight; a question without an answer, or with a text that is not offered, is wrong. A quiz with text, image or file questions awaits review. When the quiz belongs to a lesson, the first attempt completes the lesson. Text answers have at most 256 KiB together. Fields other than `answers` are ignored.',
  returns: 'The result of the attempt.',
  status: 201,
  headers: { idempotencyKey: 'Idempotency-Key' },
  insertsRow: true,
  fails: [
    'questionUnknown',
    'answerMisfit',
    'answersTooLarge',
    'quizUnknown',
    'idempotencyMismatch',
    'quizClosed',
    'quizEmpty',
    'attemptsExhausted',
  ],
})
  .input(input)
  .output(result)
  .mutation(({ ctx, input }) => retryingConflicts(() => attempt(ctx, input)))

/** Documented order of refusals: quiz, key, state, answers. */
async function attempt(
  { core, call, member, academy }: Context & { member: string; academy: string },
  { quizId, idempotencyKey: key, answers }: z.output<typeof input>,
): Promise<Result> {
  const place = { clientId: call.principal.client, personId: member, organisationId: academy, quizId, key }
  const quiz = await findQuiz(core, place)
  if (!quiz) throw errors.quizUnknown()
  if (quiz.kept) return replay(quiz.kept, answers)
  if (quiz.state === 'closed') throw errors.quizClosed()
  if (quiz.questions.length === 0) throw errors.quizEmpty()
  // Counted without a lock, to refuse without a write; `storeAttempt` counts again under the lock.
  if (quiz.attempts >= (quiz.attemptsAllowed ?? Infinity)) throw errors.attemptsExhausted()

  const grading = grade(quiz, answers)
  const bodyHash = key === undefined ? null : hashAnswers(answers)
  const store = () => storeAttempt(core.db, { place, bodyHash, quiz, grading, now: core.now() })
  return bodyHash === null ? store() : shared(core.db, place, bodyHash, store)
}

export const quizzes = router({ get, submit, result: getResult, review })
