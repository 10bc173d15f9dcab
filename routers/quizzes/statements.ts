import { randomUUID } from 'node:crypto'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import { float, int, jsonArray, nullable, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { isPostgresText } from '../kernel/access.ts'
import type { Core } from '../kernel/context.ts'
import { sqlState } from '../kernel/database-errors.ts'
import { errors } from '../kernel/errors.ts'
import { expiry } from '../kernel/idempotency-key.ts'
import type { Grading, Question } from './grade.ts'
import type { FirstSubmission, Place } from './idempotency.ts'
import type { Result } from './result.ts'

/** What the function of the database raises when the attempts are used up. */
const ATTEMPTS_EXHAUSTED = 'QU001'

/** An attempt takes these two, past Prisma. The write is a function of the database (prisma/functions). */
export const statements = {
  /** The quiz with everything its refusals depend on, so that all of it is of one moment. */
  find: statement(
    'quiz_find',
    `SELECT state, threshold, "lessonId", "attemptsAllowed",
        (SELECT count(*) FROM "QuizResult" WHERE "quizId" = quiz.id AND "personId" = $4 AND "attemptsAllowed" IS NOT NULL)
          AS attempts,
        coalesce((SELECT json_agg(json_build_object('id', id, 'type', type, 'solution', coalesce(solution, '{}'))
          ORDER BY position) FROM "Question" WHERE "quizId" = quiz.id), '[]') AS questions,
        "bodyHash", answer
      FROM "Quiz" quiz LEFT JOIN "IdempotencyRecord" kept ON kept."quizId" = quiz.id AND "organisationId" = $2
        AND "clientId" = $3 AND "personId" = $4 AND key = $5 AND "createdAt" > $6
      WHERE quiz.id = $1 AND "academyId" = $2 AND state <> 'draft'`,
    {
      state: oneOf('draft', 'released', 'closed'),
      threshold: float,
      lessonId: nullable(text),
      attemptsAllowed: nullable(int),
      attempts: int,
      questions: jsonArray<Question>(),
      bodyHash: nullable(text),
      answer: nullable(text),
    },
  ),
  submit: statement(
    'quiz_submit',
    `SELECT outcome, first_response FROM
      quiz_submit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
    { outcome: oneOf('stored', 'repeated', 'mismatch'), first_response: nullable(text) },
  ),
}

export interface Quiz {
  state: 'draft' | 'released' | 'closed'
  threshold: number
  lessonId: string | null
  attemptsAllowed: number | null
  /** The member's attempts; counted only when they are limited. */
  attempts: number
  questions: Question[]
  /** The first submission with the key, if there is one. */
  kept: FirstSubmission | undefined
}

/** Undefined when the academy has no such quiz, or has not released it. */
export async function findQuiz({ db, now }: Core, place: Place): Promise<Quiz | undefined> {
  const { quizId, organisationId, clientId, personId, key } = place
  if (!isPostgresText(quizId)) return undefined
  // No client can send an empty key, so no record matches.
  const values = [quizId, organisationId, clientId, personId, key ?? '', expiry(now()).toISOString()]
  const [row] = await db.execute(statements.find, values)
  if (!row) return undefined
  const { bodyHash, answer, ...quiz } = row
  return { ...quiz, kept: bodyHash === null ? undefined : { bodyHash, answer: answer! } }
}

export interface Attempt {
  place: Place
  /** The hash of the answers, when there is a key. */
  bodyHash: string | null
  quiz: Pick<Quiz, 'threshold' | 'lessonId' | 'attemptsAllowed'>
  grading: Grading
  /** Unix time in milliseconds. */
  now: number
}

/**
 * Stores the attempt. Resolves with its result, or with the first one for its key. Throws 409 when the key came with another
 * body, or when the attempts are used up.
 */
export async function storeAttempt(db: Core['db'], attempt: Attempt): Promise<Result> {
  const { place, bodyHash, quiz, grading, now } = attempt
  const { clientId, personId, organisationId, quizId, key } = place
  const { outcomes, ...grades } = grading
  const result: Result = { id: randomUUID(), ...grades }
  const values = [
    ...[clientId, personId, organisationId, quizId],
    ...[key ?? null, bodyHash, JSON.stringify(result), expiry(now).toISOString()],
    ...[result.id, String(result.score), String(result.passed), result.reviewStatus, String(result.gradedQuestions)],
    ...[String(quiz.threshold), new Date(now).toISOString()],
    arrayOf(outcomes.map(({ questionId }) => questionId)),
    arrayOf(outcomes.map(({ answer }) => (answer === undefined ? null : JSON.stringify(answer)))),
    arrayOf(outcomes.map(({ correct }) => correct)),
    ...[quiz.attemptsAllowed === null ? null : String(quiz.attemptsAllowed), quiz.lessonId],
  ]
  const [stored] = await db.execute(statements.submit, values).catch((error) => {
    throw sqlState(error) === ATTEMPTS_EXHAUSTED ? errors.attemptsExhausted() : error
  })
  if (stored!.outcome === 'mismatch') throw errors.idempotencyMismatch()
  return stored!.outcome === 'repeated' ? (JSON.parse(stored!.first_response!) as Result) : result
}
