import { describe, expect, inject, it, onTestFinished } from 'vitest'
import type { Transaction } from '../../prisma/client.ts'
import { callAs } from '../../routers/core.ts'
import type { Grading } from '../../routers/quizzes/grade.ts'
import { forgetExpired } from '../../routers/quizzes/idempotency.ts'
import { storeAttempt } from '../../routers/quizzes/statements.ts'
import { expectRefusal } from '../support/refusal.ts'
import type { Reply } from '../support/request.ts'
import { id } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { startWorld } from '../support/world.ts'
import {
  choices,
  DAY,
  EXHAUSTED,
  MISMATCH,
  mint,
  mintClient,
  mintLearner,
  mintLesson,
  NO_QUIZ,
  nothing,
  post,
  q1,
  right,
  startQuizTenant,
  stored,
  submit,
  withKey,
  world,
} from './quiz-tenant.ts'

startQuizTenant()

const grading: Grading = { score: 100, passed: true, reviewStatus: 'passed', gradedQuestions: 3, outcomes: [] }

describe('an Idempotency-Key', () => {
  it.each([
    ['of one character', '!'],
    ['of 255 characters', 'k'.repeat(255)],
    ['that is a UUID', '0b7c3c5e-6f0e-4c0a-9f57-6a3c5f0d7a11'],
    ['of punctuation', `"#$%&'()*+,-./:;<=>?@[]^_{|}~`],
  ])('%s gives the first answer again', async (_, key) => {
    const quiz = await mint(choices, { lessonId: await mintLesson() })
    const first = await submit(quiz, right, withKey(key))
    const again = await submit(quiz, right, withKey(key))
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.text).toBe(first.text)
    expect(await stored(quiz)).toEqual({ results: 1, answers: 3, records: 1, completions: 1 })
  })

  it('ignores the order of keys and unknown fields of the body', async () => {
    const quiz = await mint([...choices, { ...q1, id: '__proto__' }, { ...q1, id: '10' }])
    const send = (body: string) => post(quiz, body, withKey('k'))
    const first = await send('{"answers":{"q1":"Green","q2":"4","__proto__":"Red","10":"Blue"}}')
    const again = await send('{ "more": 1, "answers" : {"__proto__":"Red","10":"Blue","q2":"4","q1":"Gr\\u0065en"}}')
    expect(first.status).toBe(201)
    expect(again.text).toBe(first.text)
    for (const other of [
      '{"q1":"Green","q2":"4","10":"Blue"}',
      '{"q1":"Green","q2":"4","__proto__":"Blue","10":"Blue"}',
    ]) {
      expectRefusal(await send(`{"answers":${other}}`), 409, 'conflict', ...MISMATCH)
    }
    expect((await stored(quiz)).results).toBe(1)
  })

  it.each([
    ['fewer answers', { q1: 'Green' }],
    ['no answers', {}],
    ['other answers', { ...right, q1: 'Red' }],
    ['another order within an answer', { ...right, q3: ['C', 'A'] }],
    ['answers that do not fit', { ...right, q3: 'A' }],
    ['answers to other questions', { q1: 'Green', q2: '4', q9: ['A', 'C'] }],
  ])('returns 409 for %s', async (_, answers) => {
    const quiz = await mint(choices)
    await submit(quiz, right, withKey('k'))
    expectRefusal(await submit(quiz, answers, withKey('k')), 409, 'conflict', ...MISMATCH)
    expect(await stored(quiz)).toEqual({ results: 1, answers: 3, records: 1, completions: 0 })
  })

  it('returns the first answer even after the quiz has changed, closed or run out of attempts', async () => {
    const quiz = await mint(choices, { attemptsAllowed: 1 })
    const first = await submit(quiz, right, withKey('k'))
    const again = async () => expect((await submit(quiz, right, withKey('k'))).text).toBe(first.text)
    expect(first.status).toBe(201)
    await again()
    await world.db.quiz.update({ where: { id: quiz }, data: { state: 'closed', threshold: 100 } })
    await again()
    await world.db.question.deleteMany({ where: { quizId: quiz } })
    await again()
    expect((await stored(quiz)).results).toBe(1)
  })

  it('is scoped to one quiz, member and client', async () => {
    const [quiz, other] = [await mint(choices), await mint(choices)]
    const sub = await mintLearner()
    const client_id = await mintClient()
    const replies = [
      await submit(quiz, right, withKey('k')),
      await submit(other, {}, withKey('k')),
      await submit(quiz, {}, { ...withKey('k'), claims: { sub } }),
      await submit(quiz, {}, { ...withKey('k'), claims: { client_id } }),
    ]
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(4)
  })

  it('is case-sensitive', async () => {
    const quiz = await mint(choices)
    expect((await submit(quiz, right, withKey('k'))).status).toBe(201)
    expect((await submit(quiz, {}, withKey('K'))).status).toBe(201)
  })

  it('is good for less than 24 hours, to the millisecond', async () => {
    // Long ago, so that no record of another test is forgotten.
    const first = Date.parse('2020-05-05T12:00:00.500Z')
    let now = first
    const core = { ...world.core, now: () => now }
    const { submit } = callAs(core, world.principal({ organisation: world.ids.academy })).quizzes
    const quizId = await mint(choices)
    const again = () => submit({ quizId, idempotencyKey: 'edge', answers: right })
    const count = () => world.db.idempotencyRecord.count({ where: { quizId } })
    const { id } = await again()

    now = first + DAY * 1000 - 1
    expect((await again()).id).toBe(id)
    await forgetExpired(world.db, now)
    expect(await count()).toBe(1)

    now = first + DAY * 1000
    const second = await again()
    expect(second.id).not.toBe(id)
    now += DAY * 1000 - 1
    expect((await again()).id).toBe(second.id)
    await forgetExpired(world.db, now + 1)
    expect(await count()).toBe(0)
    expect((await stored(quizId)).results).toBe(2)
  })

  it('is good for 24 hours from its first claim, however often it is claimed again', async () => {
    const { client: clientId, member: personId, academy: organisationId } = world.ids
    const quizId = await mint(choices)
    const place = { clientId, personId, organisationId, quizId, key: 'k' }
    const quiz = { threshold: 60, lessonId: null, attemptsAllowed: null }
    const start = Date.parse('2026-11-20T12:00:00Z')
    // As by a duplicate that has read the quiz before the first one was stored.
    const claimAfter = (seconds: number, bodyHash = 'same') =>
      storeAttempt(world.db, { place, bodyHash, quiz, grading, now: start + seconds * 1000 })
    const first = await claimAfter(0)
    expect(await claimAfter(DAY - 1)).toEqual(first)
    await expect(claimAfter(DAY - 1, 'other')).rejects.toMatchObject({ reason: 'idempotency_mismatch' })
    expect(await stored(quizId)).toMatchObject({ results: 1, records: 1 })
    const later = await claimAfter(DAY, 'other')
    expect(later.id).not.toBe(first.id)
    expect(await claimAfter(DAY + 1, 'other')).toEqual(later)
    expect(await stored(quizId)).toMatchObject({ results: 2, records: 1 })
  })

  it('is free again when the attempts turn out to be used up under the lock', async () => {
    const { client: clientId, member: personId, academy: organisationId } = world.ids
    const quizId = await mint(choices, { attemptsAllowed: 1 })
    const quiz = { threshold: 60, lessonId: null, attemptsAllowed: 1 }
    const attempt = (key: string, day: number) =>
      storeAttempt(world.db, {
        place: { clientId, personId, organisationId, quizId, key },
        bodyHash: 'same',
        quiz,
        grading,
        now: Date.parse('2026-11-20T12:00:00Z') + day * DAY * 1000,
      })
    const first = await attempt('first', 0)
    const records = () => world.db.idempotencyRecord.findMany({ where: { quizId } })
    const before = await records()
    for (const [key, day] of [
      ['second', 0],
      ['first', 1],
    ] as const) {
      await expect(attempt(key, day)).rejects.toMatchObject({ reason: 'attempts_exhausted' })
    }
    expect(await records()).toEqual(before)
    expect(await attempt('first', 0)).toEqual(first)
    expect(await stored(quizId)).toMatchObject({ results: 1, records: 1 })
  })
})

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
    let [read, submitted] = [0, 0]
    const none = () => {}
    const began = (name: string) => {
      if (name === 'quiz_submit') submitted++
      return name === 'quiz_find' ? () => void read++ : undefined
    }
    const observer = { opened: none, waited: none, failed: none, timedOut: none, unconnected: none, began }
    const db = openTestDatabase(inject('databaseUrl'), { observer })
    const node = await startWorld({ like: world, db })
    onTestFinished(() => node.close())
    const body = { answers: right }
    const submit = () => node.call('POST', `/quizzes/${quiz}/results`, { body, ...withKey('same') })
    let replies: Promise<Reply[]> | undefined
    let waited = 0
    await world.db.$transaction(async (tx) => {
      const [own] = await tx.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
      const { member, academy } = world.ids
      await tx.$queryRaw`SELECT "personId" FROM "Membership"
        WHERE "organisationId" = ${academy} AND "personId" = ${member} FOR UPDATE`
      replies = Promise.all(Array.from({ length: 32 }, submit))
      // For this transaction, or for one that waits for it.
      const waiting = () =>
        tx.$queryRaw<unknown[]>`WITH first AS (SELECT array_agg(pid) AS pids FROM pg_locks
            WHERE NOT granted AND ${own!.pid}::int = ANY (pg_blocking_pids(pid)))
          SELECT DISTINCT pid FROM pg_locks, first WHERE NOT granted AND pg_blocking_pids(pid) && (pids || ${own!.pid}::int)`
      // A request that has read the quiz submits, or waits for a connection, before the next event.
      await expect.poll(() => read).toBe(32)
      expect([submitted, db.shares.waiting]).toEqual([1, 0])
      await expect.poll(async () => (waited = (await waiting()).length)).not.toBe(0)
    })
    expect(statuses(await replies!)).toEqual(Array(32).fill(201))
    expect(waited).toBe(1)
    expect(submitted).toBe(1)
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
