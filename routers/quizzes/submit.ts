import { randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../prisma/client.ts'
import { isPostgresText } from '../access.ts'
import type { Context, Core } from '../context.ts'
import { sqlState } from '../database-errors.ts'
import { errors } from '../errors.ts'
import type { Grading } from './grade.ts'
import type { Place } from './idempotency.ts'
import { claim, expiry } from './idempotency.ts'
import type { Result } from './result.ts'

export type LearnerContext = Context & { member: string; academy: string }

/** Where the first result of this member for this key is stored. */
export const placeOf = ({ call, member, academy }: LearnerContext, quizId: string, key = ''): Place => ({
  clientId: call.principal.client,
  personId: member,
  organisationId: academy,
  quizId,
  // No client can send an empty key, so no record matches.
  key,
})

type Quiz = NonNullable<Awaited<ReturnType<typeof findQuiz>>>

/** The quiz with everything its refusals depend on, in one statement, so that all of it is of one moment. */
export async function findQuiz({ db, now }: Core, { quizId, ...own }: Place) {
  if (!isPostgresText(quizId)) return null
  return db.quiz.findFirst({
    relationLoadStrategy: 'join',
    where: { id: quizId, academyId: own.organisationId, state: { not: 'draft' } },
    select: {
      state: true,
      threshold: true,
      lessonId: true,
      attemptsAllowed: true,
      questions: { orderBy: { position: 'asc' }, select: { id: true, type: true, solution: true } },
      idempotency: {
        where: { ...own, createdAt: { gt: expiry(now()) } },
        select: { bodyHash: true, answer: true },
      },
      _count: { select: { results: { where: { personId: own.personId } } } },
    },
  })
}

interface Attempt {
  place: Place
  quiz: Quiz
  grading: Grading
  now: number
}

/** Conflicts worth one retry: deadlock, serialisation failure, a referenced row deleted after it was read. */
const transient = new Set(['40P01', '40001', '23503'])

/** Repeats the work once after such a conflict. */
export const retried = <Outcome>(work: () => Promise<Outcome>): Promise<Outcome> =>
  work().catch((error) => {
    if (transient.has(sqlState(error) ?? '')) return work()
    throw error
  })

/** Stores an attempt with its answers and the lesson's completion in one transaction. */
export const store = (db: Database, attempt: Attempt, bodyHash: string | null) =>
  db.$transaction((tx) => write(tx, attempt, bodyHash))

/** Locks in one order, so that attempts cannot deadlock: key, member, lesson. */
async function write(
  tx: Transaction,
  { place, quiz, grading, now }: Attempt,
  bodyHash: string | null,
): Promise<Result> {
  const { quizId, personId } = place
  const { outcomes, ...grades } = grading
  const result: Result = { id: randomUUID(), ...grades }

  if (bodyHash !== null) {
    const answer = JSON.stringify(result)
    const kept = await claim(tx, place, { bodyHash, answer }, now)
    if (kept.bodyHash !== bodyHash) throw errors.idempotencyMismatch()
    if (kept.answer !== answer) return JSON.parse(kept.answer) as Result
  }
  if (quiz.attemptsAllowed !== null) await refuseBeyond(tx, quiz.attemptsAllowed, place)

  const submittedAt = new Date(now)
  await tx.quizResult.create({
    data: { ...result, quizId, personId, threshold: quiz.threshold, submittedAt },
    select: { id: true },
  })
  await tx.answer.createMany({
    data: outcomes.map(({ questionId, answer, correct }) => {
      const value = answer === undefined ? null : JSON.stringify(answer)
      return { resultId: result.id, quizId, questionId, value, correct }
    }),
  })
  if (quiz.lessonId !== null) {
    const completion = { lessonId: quiz.lessonId, personId, completedAt: submittedAt }
    await tx.lessonCompletion.createMany({ data: [completion], skipDuplicates: true })
  }
  return result
}

/** Counts the member's attempts under a lock on their membership. */
async function refuseBeyond(tx: Transaction, allowed: number, { quizId, personId, organisationId }: Place) {
  await tx.$queryRaw`SELECT "personId" FROM "Membership"
    WHERE "organisationId" = ${organisationId} AND "personId" = ${personId} FOR NO KEY UPDATE`
  const attempts = await tx.quizResult.count({ where: { quizId, personId } })
  if (attempts >= allowed) throw errors.attemptsExhausted()
}
