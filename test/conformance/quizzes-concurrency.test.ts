import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../prisma/client.ts'
import { expectRefusal } from '../support/refusal.ts'
import type { Reply } from '../support/request.ts'
import { id } from '../support/tenant.ts'
import {
  choices,
  EXHAUSTED,
  MISMATCH,
  mint,
  mintClient,
  mintLearner,
  mintLesson,
  NO_QUIZ,
  nothing,
  right,
  startQuizTenant,
  stored,
  submit,
  withKey,
  world,
} from './quiz-tenant.ts'

startQuizTenant()

const statuses = (replies: Reply[]) => replies.map(({ status }) => status).sort()

describe('concurrent submissions', () => {
  it.each([null, 1])('store one result for 64 equal requests with one key (attempts: %s)', async (attemptsAllowed) => {
    const quiz = await mint(choices, { attemptsAllowed, lessonId: await mintLesson() })
    const replies = await Promise.all(Array.from({ length: 64 }, () => submit(quiz, right, withKey('same'))))
    expect(statuses(replies)).toEqual(Array(64).fill(201))
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    expect(await stored(quiz)).toEqual({ results: 1, answers: 3, records: 1, completions: 1 })
  })

  it('wait on one connection for 32 equal requests with one key', async () => {
    const quiz = await mint(choices, { attemptsAllowed: 1 })
    let replies: Promise<Reply[]> | undefined
    let waited = 0
    await world.db.$transaction(async (tx) => {
      const [own] = await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
      const { member, academy } = world.ids
      await tx.$queryRaw`SELECT "personId" FROM "Membership"
        WHERE "organisationId" = ${academy} AND "personId" = ${member} FOR UPDATE`
      replies = Promise.all(Array.from({ length: 32 }, () => submit(quiz, right, withKey('same'))))
      // For this transaction, or for one that waits for it.
      const waiting = () =>
        tx.$queryRaw<unknown[]>`WITH first AS (SELECT array_agg(pid) AS pids FROM pg_locks
            WHERE NOT granted AND ${own!.pid}::int = ANY (pg_blocking_pids(pid)))
          SELECT DISTINCT pid FROM pg_locks, first WHERE NOT granted AND pg_blocking_pids(pid) && (pids || ${own!.pid}::int)`
      while ((await waiting()).length === 0);
      // What else would wait has come by now.
      await new Promise((resolve) => setTimeout(resolve, 300))
      waited = (await waiting()).length
    })
    expect(statuses(await replies!)).toEqual(Array(32).fill(201))
    expect(waited).toBe(1)
    expect(await stored(quiz)).toMatchObject({ results: 1, records: 1 })
  })

  it('let one body win under one key', async () => {
    const quiz = await mint(choices)
    const bodies = Array.from({ length: 24 }, (_, n) => ({ q1: String(n) }))
    const replies = await Promise.all(bodies.map((answers) => submit(quiz, answers, withKey('k'))))
    expect(statuses(replies)).toEqual([201, ...Array(23).fill(409)])
    for (const reply of replies) {
      if (reply.status === 409) expectRefusal(reply, 409, 'conflict', ...MISMATCH)
    }
    expect(await stored(quiz)).toEqual({ results: 1, answers: 3, records: 1, completions: 0 })
  })

  it.each([
    ['without keys', () => ({})],
    ['with different keys', () => withKey(id('key'))],
  ])('never exceed the attempts allowed, %s', async (_, options) => {
    const quiz = await mint(choices, { attemptsAllowed: 1, lessonId: await mintLesson() })
    const replies = await Promise.all(Array.from({ length: 20 }, () => submit(quiz, right, options())))
    expect(statuses(replies)).toEqual([201, ...Array(19).fill(409)])
    for (const reply of replies) {
      if (reply.status === 409) expectRefusal(reply, 409, 'conflict', ...EXHAUSTED)
    }
    expect(await stored(quiz)).toMatchObject({ results: 1, answers: 3, completions: 1 })
    expect((await stored(quiz)).records).toBeLessThanOrEqual(1)
  })
})

/** Starts `attempt` while `change` is uncommitted, and commits once the attempt waits for it. */
async function meet(change: (tx: Transaction) => Promise<unknown>, attempt: () => Promise<Reply>, then = change) {
  let reply: Promise<Reply> | undefined
  await world.db.$transaction(async (tx) => {
    const [own] = await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    await change(tx)
    reply = attempt()
    const waits = () =>
      world.db.$queryRaw<unknown[]>`SELECT 1 FROM pg_locks WHERE ${own!.pid}::int = ANY(pg_blocking_pids(pid))`
    while ((await waits()).length === 0);
    if (then !== change) await then(tx)
  })
  return reply!
}

describe('a concurrent transaction', () => {
  it('deletes the quiz: the submission returns 404', async () => {
    const quiz = await mint(choices)
    const reply = await meet(
      (tx) => tx.quiz.delete({ where: { id: quiz } }),
      () => submit(quiz, right),
    )
    expectRefusal(reply, 404, 'not_found', NO_QUIZ)
    expect(await stored(quiz)).toEqual(nothing)
  })

  it('deletes a question: the submission is graded without it', async () => {
    const quiz = await mint(choices)
    const where = { of: { quizId: quiz, id: 'q1' } }
    const reply = await meet(
      (tx) => tx.question.delete({ where }),
      () => submit(quiz, { q2: '4' }),
    )
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ score: 50, gradedQuestions: 2 })
    expect(await stored(quiz)).toMatchObject({ results: 1, answers: 2 })
  })

  it('deletes the lesson: the submission completes nothing', async () => {
    const lessonId = await mintLesson()
    const quiz = await mint(choices, { lessonId })
    const reply = await meet(
      (tx) => tx.lesson.delete({ where: { id: lessonId } }),
      () => submit(quiz, right, withKey('k')),
    )
    expect(reply.status).toBe(201)
    expect(await stored(quiz)).toEqual({ results: 1, answers: 3, records: 1, completions: 0 })
  })

  it('deletes the client: the submission returns 401', async () => {
    const client_id = await mintClient()
    const quiz = await mint(choices)
    const options = { ...withKey('k'), claims: { client_id } }
    const reply = await meet(
      (tx) => tx.client.delete({ where: { id: client_id } }),
      () => submit(quiz, right, options),
    )
    expectRefusal(reply, 401, 'invalid_token', 'This token is not valid.')
    expect(await stored(quiz)).toEqual(nothing)
  })

  it('causes a deadlock: the submission is repeated', async () => {
    const quiz = await mint(choices, { attemptsAllowed: 1 })
    const sub = await mintLearner()
    const reply = await meet(
      (tx) => tx.$queryRaw`SELECT id FROM "Person" WHERE id = ${sub} FOR UPDATE`,
      () => submit(quiz, right, { claims: { sub } }),
      async (tx) => {
        // The first to check gives way: the attempt, after two seconds.
        await tx.$executeRaw`SET LOCAL deadlock_timeout = '30s'`
        return tx.membership.updateMany({ where: { personId: sub }, data: { joinedAt: new Date(0) } })
      },
    )
    expect(reply.status).toBe(201)
    expect(await stored(quiz)).toEqual({ results: 1, answers: 3, records: 0, completions: 0 })
  })
})
