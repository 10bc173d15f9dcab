import { describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { expectRefusal } from '../support/refusal.ts'
import { id } from '../support/tenant.ts'
import type { Question } from './quiz-tenant.ts'
import {
  CLOSED,
  choices,
  mint,
  mintLearner,
  NO_QUIZ,
  q1,
  right,
  startQuizTenant,
  submit,
  world,
} from './quiz-tenant.ts'

startQuizTenant()

const NO_RESULT = 'This result does not exist in this academy.'

const quiz = (quizId: string, claims = {}) =>
  world.call('GET', `/quizzes/${encodeURIComponent(quizId)}`, { api: 'sync', claims })
const result = (resultId: string, claims = {}) =>
  world.call('GET', `/quiz-results/${encodeURIComponent(resultId)}`, { claims })
const review = (resultId: string, grades: Record<string, boolean>) => {
  const platform = { client: world.ids.platform, member: null, organisation: world.ids.academy }
  const scopes = new Set(['lms.reviews:write'])
  return callAs(world.core, { ...platform, scopes }).quizzes.review({ result: resultId, grades })
}
/** An academy of which the member is one, too. */
async function mintAcademy() {
  const academy = id('academy')
  const memberships = { create: { personId: world.ids.member } }
  await world.db.organisation.create({ data: { id: academy, kind: 'academy', name: 'A', memberships } })
  return academy
}

describe('GET /quizzes/{quizId}', () => {
  it('returns the questions in order, without a trace of their solutions', async () => {
    const open: Question[] = (['text', 'image', 'file'] as const).map((type) => ({ id: type, type }))
    const solved = { id: '__proto__', type: 'single', options: ['"', '<b>'], solution: ['<b>'] } as const
    const questions = [...choices, ...open, { ...solved, options: [...solved.options], solution: [...solved.solution] }]
    const quizId = await mint(questions, { title: 'Größe "1"', threshold: 66.6, attemptsAllowed: 3 })
    const { status, body, text } = await quiz(quizId)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: quizId,
      title: 'Größe "1"',
      threshold: 66.6,
      attemptsAllowed: 3,
      attemptsUsed: 0,
      questions: questions.map(({ id, type, options }) => ({ id, type, text: '?', options: options ?? [] })),
    })
    expect(text).not.toContain('solution')
  })

  it('counts the attempts of the member alone, and stays readable once they are used up', async () => {
    const quizId = await mint(choices, { attemptsAllowed: 1 })
    const other = { claims: { sub: await mintLearner() } }
    await submit(quizId, right, other)
    expect((await quiz(quizId)).body.attemptsUsed).toBe(0)
    await submit(quizId, right)
    expect((await quiz(quizId)).body).toMatchObject({ attemptsAllowed: 1, attemptsUsed: 1 })
    const unlimited = await mint(choices)
    for (const _ of [1, 2]) await submit(unlimited, right)
    expect((await quiz(unlimited)).body).toMatchObject({ attemptsAllowed: null, attemptsUsed: 2 })
  })

  it('returns a quiz without questions, and one whose questions are larger than what is read at once', async () => {
    expect((await quiz(await mint([]))).body.questions).toEqual([])
    const free = world.memory.freeBytes
    const questions = Array.from({ length: 40 }, (_, i) => ({ ...q1, id: `q${i}`, text: `${i} ${'x'.repeat(60_000)}` }))
    const { body } = await quiz(await mint(questions))
    expect(body.questions.map(({ text }: { text: string }) => text)).toEqual(questions.map(({ text }) => text))
    expect(world.memory.freeBytes).toBe(free)
  })

  it('returns 409 for a closed quiz, and 404 for drafts, another academy, and unusual ids', async () => {
    expectRefusal(await quiz(await mint(choices, { state: 'closed' })), 409, 'conflict', ...CLOSED)
    const academyId = await mintAcademy()
    const elsewhere = await mint(choices, { academyId })
    expect((await quiz(elsewhere, { organisation: academyId })).status).toBe(200)
    const unknown = [await mint(choices, { state: 'draft' }), elsewhere, 'none', '\0', 'x'.repeat(300), "' OR 1=1 --"]
    for (const quizId of unknown) expectRefusal(await quiz(quizId), 404, 'not_found', NO_QUIZ)
  })
})

describe('GET /quiz-results/{resultId}', () => {
  it('returns what the submission has returned, with quiz, threshold and time', async () => {
    const quizId = await mint(choices, { threshold: 50 })
    const { body } = await submit(quizId, { ...right, q1: 'Red' })
    await world.db.quiz.update({ where: { id: quizId }, data: { threshold: 90 } })
    expect((await result(body.id)).body).toEqual({ ...body, quizId, threshold: 50, submittedAt: expect.any(Number) })
    const { submittedAt } = await world.db.quizResult.findUniqueOrThrow({ where: { id: body.id } })
    expect((await result(body.id)).body.submittedAt).toBe(Math.floor(submittedAt.getTime() / 1000))
  })

  it('follows the review, also once the quiz is closed', async () => {
    const quizId = await mint([q1, { id: 't', type: 'text' }])
    const { body } = await submit(quizId, { q1: 'Green', t: 'x' })
    expect((await result(body.id)).body).toMatchObject({ reviewStatus: 'pending_review', passed: false, score: 100 })
    await review(body.id, { t: false })
    await world.db.quiz.update({ where: { id: quizId }, data: { state: 'closed' } })
    expect((await result(body.id)).body).toMatchObject({ reviewStatus: 'failed', passed: false, score: 50 })
  })

  it('returns 404 for the result of another member, of another academy, and for unusual ids', async () => {
    const quizId = await mint(choices)
    const { body } = await submit(quizId, right)
    const academyId = await mintAcademy()
    for (const claims of [{ sub: await mintLearner() }, { organisation: academyId }]) {
      expectRefusal(await result(body.id, claims), 404, 'not_found', NO_RESULT)
    }
    for (const resultId of ['none', quizId, '\0', 'x'.repeat(300), "' OR 1=1 --"]) {
      expectRefusal(await result(resultId), 404, 'not_found', NO_RESULT)
    }
    expect((await result(body.id)).status).toBe(200)
  })
})
