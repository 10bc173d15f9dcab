import { randomUUID } from 'node:crypto'
import {
  bool,
  bools,
  float,
  instant,
  int,
  jsonArray,
  nullable,
  oneOf,
  statement,
  text,
  texts,
} from '../../prisma/pg/statement.ts'
import { isPostgresText } from '../kernel/access.ts'
import type { Core } from '../kernel/context.ts'
import { sqlState } from '../kernel/database-errors.ts'
import { errors } from '../kernel/errors.ts'
import { expiry } from '../kernel/page.ts'
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
        (SELECT count(*) FROM "QuizResult" WHERE "quizId" = quiz.id AND "personId" = $personId AND "attemptsAllowed" IS NOT NULL)
          AS attempts,
        coalesce((SELECT json_agg(json_build_object('id', id, 'type', type, 'solution', coalesce(solution, '{}'))
          ORDER BY position) FROM "Question" WHERE "quizId" = quiz.id), '[]') AS questions,
        "bodyHash", answer
      FROM "Quiz" quiz LEFT JOIN "IdempotencyRecord" kept ON kept."quizId" = quiz.id AND "organisationId" = $organisationId
        AND "clientId" = $clientId AND "personId" = $personId AND key = $key AND "createdAt" > $after
      WHERE quiz.id = $quizId AND "academyId" = $organisationId AND state <> 'draft'`,
    { quizId: text, organisationId: text, clientId: text, personId: text, key: text, after: instant },
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
    `SELECT outcome, first_response FROM quiz_submit(
        $clientId, $personId, $organisationId, $quizId, $key, $bodyHash, $response, $expiry, $id, $score, $passed, $reviewStatus,
        $gradedQuestions, $threshold, $now, $questions, $answers, $corrections, $attemptsAllowed, $lessonId)`,
    {
      clientId: text,
      personId: text,
      organisationId: text,
      quizId: text,
      key: nullable(text),
      bodyHash: nullable(text),
      response: text,
      expiry: instant,
      id: text,
      score: float,
      passed: bool,
      reviewStatus: oneOf('passed', 'failed', 'pending_review'),
      gradedQuestions: int,
      threshold: float,
      now: instant,
      questions: texts,
      answers: texts,
      corrections: bools,
      attemptsAllowed: nullable(int),
      lessonId: nullable(text),
    },
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
  if (!isPostgresText(place.quizId)) return undefined
  // No client can send an empty key, so no record matches.
  const { quizId, organisationId, clientId, personId, key = '' } = place
  const values = { quizId, organisationId, clientId, personId, key, after: expiry(now()) }
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
  const { outcomes, ...grades } = grading
  const result: Result = { id: randomUUID(), ...grades }
  const { clientId, personId, organisationId, quizId, key = null } = place
  const values = {
    clientId,
    personId,
    organisationId,
    quizId,
    key,
    bodyHash,
    response: JSON.stringify(result),
    expiry: expiry(now),
    id: result.id,
    score: result.score,
    passed: result.passed,
    reviewStatus: result.reviewStatus,
    gradedQuestions: result.gradedQuestions,
    threshold: quiz.threshold,
    now,
    questions: outcomes.map(({ questionId }) => questionId),
    answers: outcomes.map(({ answer }) => (answer === undefined ? null : JSON.stringify(answer))),
    corrections: outcomes.map(({ correct }) => correct),
    attemptsAllowed: quiz.attemptsAllowed,
    lessonId: quiz.lessonId,
  }
  const [stored] = await db.execute(statements.submit, values).catch((error) => {
    throw sqlState(error) === ATTEMPTS_EXHAUSTED ? errors.attemptsExhausted() : error
  })
  if (stored!.outcome === 'mismatch') throw errors.idempotencyMismatch()
  return stored!.outcome === 'repeated' ? (JSON.parse(stored!.first_response!) as Result) : result
}
