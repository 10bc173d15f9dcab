import { describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { expectRefusal } from '../support/refusal.ts'
import { id } from '../support/tenant.ts'
import type { Question } from './quiz-tenant.ts'
import {
  BAD_KEY,
  CLOSED,
  choices,
  EMPTY,
  EXHAUSTED,
  MISFIT,
  MISMATCH,
  mint,
  mintLearner,
  mintLesson,
  NO_QUIZ,
  NO_SUCH_QUESTION,
  NOT_OBJECT,
  nothing,
  post,
  q1,
  q2,
  q3,
  right,
  startQuizTenant,
  stored,
  submit,
  withKey,
  world,
} from './quiz-tenant.ts'

startQuizTenant()

describe('POST /quizzes/{quizId}/results', () => {
  it.each([
    ['passed', 100, 3, 'all correct', choices, right],
    ['passed', 66.67, 3, 'enough correct', choices, { ...right, q1: 'Red' }],
    ['failed', 33.33, 3, 'too few correct', choices, { q1: 'Green', q3: ['A'] }],
    ['failed', 0, 3, 'no answers', choices, {}],
    ['failed', 0, 1, 'a text that is not offered', [q1], { q1: 'Purple' }],
    ['pending_review', 100, 1, 'an open text', [q1, { id: 't', type: 'text' }], { q1: 'Green', t: 'x' }],
    ['pending_review', 0, 1, 'an open image', [q1, { id: 'i', type: 'image' }], { i: 'https://a.b/c' }],
    ['pending_review', 0, 0, 'only an open file', [{ id: 'f', type: 'file' }], { f: 'anything' }],
  ] as [string, number, number, string, Question[], Record<string, unknown>][])(
    'returns %s, %d percent of %d questions: %s',
    async (reviewStatus, score, gradedQuestions, _, questions, answers) => {
      const { status, headers, body } = await submit(await mint(questions), answers)
      expect(status).toBe(201)
      expect(headers['content-type']).toMatch(/^application\/json/)
      const passed = reviewStatus === 'passed'
      expect(body).toEqual({ id: expect.stringMatching(/./), score, passed, reviewStatus, gradedQuestions })
    },
  )

  it('passes when the score that is shown reaches the threshold', async () => {
    const answers = { q1: 'Green', q2: '4' }
    expect((await submit(await mint(choices, { threshold: 66.66 }), answers)).body.passed).toBe(true)
    expect((await submit(await mint(choices, { threshold: 66.67 }), answers)).body.passed).toBe(true)
    expect((await submit(await mint(choices, { threshold: 66.68 }), answers)).body.passed).toBe(false)
    expect((await submit(await mint([q1, q2], { threshold: 50 }), { q1: 'Green' })).body.passed).toBe(true)
  })

  it('stores every answer as sent, with its grade', async () => {
    const questions: Question[] = [...choices, { id: 't', type: 'text' }, { id: 'f', type: 'file' }]
    const quizId = await mint(questions, { threshold: 42.5 })
    const sent = { t: 'NUL \0, half \ud83d, "quotes"', q3: ['C', 'A', 'C'], q1: 'Red' }
    const before = world.core.now()
    const { body } = await submit(quizId, sent)
    const after = world.core.now()

    const result = await world.db.quizResult.findUniqueOrThrow({ where: { id: body.id }, include: { answers: true } })
    expect(result).toMatchObject({
      ...body,
      quizId,
      personId: world.ids.member,
      threshold: 42.5,
    })
    expect(result.submittedAt.getTime()).toBeGreaterThanOrEqual(before)
    expect(result.submittedAt.getTime()).toBeLessThanOrEqual(after)
    const answers = Object.fromEntries(
      result.answers.map(({ questionId, value, correct }) => [
        questionId,
        [value === null ? null : JSON.parse(value), correct],
      ]),
    )
    expect(answers).toEqual({
      q1: ['Red', false],
      q2: [null, false],
      q3: [['C', 'A', 'C'], true],
      t: [sent.t, null],
      f: [null, null],
    })
  })

  it('accepts question ids such as __proto__', async () => {
    const questions = ['__proto__', 'constructor', 'toString'].map((id) => ({ ...q1, id }))
    const quiz = await mint(questions)
    const reply = await post(quiz, '{"answers":{"__proto__":"Green","constructor":"Green"}}')
    expect(reply.body).toMatchObject({ score: 66.67, passed: true })
  })

  it('discards unknown fields of the body', async () => {
    const quiz = await mint(choices)
    const extra = {
      score: 100,
      passed: true,
      id: 'mine',
      quizId: 'other',
      idempotencyKey: 'k',
      threshold: 0,
      attemptsAllowed: 9,
    }
    const { status, body } = await post(quiz, { answers: {}, ...extra })
    expect(status).toBe(201)
    expect(Object.keys(body).sort()).toEqual(['gradedQuestions', 'id', 'passed', 'reviewStatus', 'score'])
    expect(body).toMatchObject({ score: 0, passed: false })
    expect(body.id).not.toBe('mine')
    expect((await stored(quiz)).records).toBe(0)
  })

  it('accepts a body of 1 MiB and no more', async () => {
    const quiz = await mint([{ id: 't', type: 'text' }])
    const makeBody = (bytes: number) => `{"answers":{"t":""}}${' '.repeat(bytes - 20)}`
    expect((await post(quiz, makeBody(1_048_576))).status).toBe(201)
    const { status, body } = await post(quiz, makeBody(1_048_577))
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' })
    expect((await stored(quiz)).results).toBe(1)
  })
})

describe('the answers of an attempt', () => {
  const MOST = 256 * 1024
  const questions: Question[] = [
    { id: 't1', type: 'text' },
    { id: 't2', type: 'text' },
    { id: 'i', type: 'image' },
    { id: 'f', type: 'file' },
    q1,
    q3,
  ]

  it('to text questions, and to all others, have 256 KiB together', async () => {
    const quiz = await mint(questions)
    const half = 'ü'.repeat(MOST / 4)
    const answers = { t1: half, t2: half, i: 'x'.repeat(MOST - 3), f: 'x', q3: ['A', 'C'] }
    expect((await submit(quiz, answers)).status).toBe(201)
    expect((await stored(quiz)).results).toBe(1)
  })

  it.each<[string, object]>([
    ['a text', { t1: 'x'.repeat(MOST + 1) }],
    ['two texts', { t1: 'x'.repeat(MOST), t2: 'x' }],
    ['a text by its bytes in UTF-8', { t1: 'ü'.repeat(MOST / 2), t2: 'x' }],
    ['other answers', { i: 'x'.repeat(MOST), q1: 'x' }],
    ['chosen texts', { q3: ['x'.repeat(MOST), 'A'] }],
  ])('are 400 with one byte more, and nothing is stored: %s', async (_, answers) => {
    const quiz = await mint(questions)
    const { status, body } = await post(quiz, { answers }, { headers: { 'idempotency-key': 'large' } })
    expect({ status, ...body.error }).toMatchObject({
      status: 400,
      code: 'invalid_request',
      message: 'The answers have more than 256 KiB of text together.',
    })
    expect(await stored(quiz)).toMatchObject({ results: 0, records: 0 })
  })
})

describe('a lesson with a quiz', () => {
  it.each([
    ['passed', choices, right],
    ['failed', choices, {}],
    ['pending_review', [{ id: 't', type: 'text' }], {}],
  ] as [string, Question[], object][])(
    'is completed by an attempt with the result %s',
    async (reviewStatus, questions, answers) => {
      const lessonId = await mintLesson()
      const quizId = await mint(questions, { lessonId })
      const before = world.core.now()
      const { body } = await submit(quizId, answers)
      const after = world.core.now()
      expect(body.reviewStatus).toBe(reviewStatus)
      const completions = await world.db.lessonCompletion.findMany({ where: { lessonId } })
      expect(completions.map(({ personId }) => personId)).toEqual([world.ids.member])
      expect(completions[0]!.completedAt.getTime()).toBeGreaterThanOrEqual(before)
      expect(completions[0]!.completedAt.getTime()).toBeLessThanOrEqual(after)
    },
  )

  it('keeps the time of the first attempt', async () => {
    const lessonId = await mintLesson()
    const quizzes = [await mint(choices, { lessonId }), await mint([q1], { lessonId })]
    await submit(quizzes[0]!, {})
    const first = await world.db.lessonCompletion.findMany({ where: { lessonId } })
    world.advance(60)
    const again = await Promise.all(quizzes.map((quiz) => submit(quiz, {})))
    expect(again.map(({ status }) => status)).toEqual([201, 201])
    expect(await world.db.lessonCompletion.findMany({ where: { lessonId } })).toEqual(first)
  })
})

startQuizTenant()

describe('a refused attempt', () => {
  it.each([
    ['answers is missing', {}],
    ['answers is null', { answers: null }],
    ['answers is an array', { answers: [] }],
    ['answers is a string', { answers: 'q1' }],
    ['answers is a number', { answers: 1 }],
    ['answers is a boolean', { answers: true }],
  ])('returns 400 when %s', async (_, body) => {
    const quiz = await mint(choices, { lessonId: await mintLesson() })
    expectRefusal(await post(quiz, body, withKey('k')), 400, 'invalid_request', NOT_OBJECT)
    expect(await stored(quiz)).toEqual(nothing)
  })

  it.each([
    ['an unknown question', { ...right, q4: 'A' }, NO_SUCH_QUESTION],
    ['constructor as a question', { constructor: 'A' }, NO_SUCH_QUESTION],
    ['an array for a single question', { q1: ['Green'] }, MISFIT],
    ['null for a single question', { q1: null }, MISFIT],
    ['a number for a single question', { q2: 4 }, MISFIT],
    ['an object for a single question', { q1: {} }, MISFIT],
    ['a string for a multiple question', { q3: 'A' }, MISFIT],
    ['an array of numbers for a multiple question', { q3: [1] }, MISFIT],
    ['an array of arrays for a multiple question', { q3: [['A'], ['C']] }, MISFIT],
    ['an array for a text', { t: ['x'] }, MISFIT],
    ['a number for an image', { i: 1 }, MISFIT],
    ['null for a file', { f: null }, MISFIT],
  ])('returns 400 for %s', async (_, answers, message) => {
    const open = (['text', 'image', 'file'] as const).map((type) => ({ id: type[0]!, type }))
    const quiz = await mint([...choices, ...open], { lessonId: await mintLesson(), attemptsAllowed: 1 })
    expectRefusal(await submit(quiz, answers, withKey('k')), 400, 'invalid_request', message)
    expectRefusal(await submit(quiz, answers), 400, 'invalid_request', message)
    expect(await stored(quiz)).toEqual(nothing)
  })

  it('returns 404 for a draft', async () => {
    const quiz = await mint(choices, { state: 'draft', lessonId: await mintLesson() })
    expectRefusal(await submit(quiz, right, withKey('k')), 404, 'not_found', NO_QUIZ)
    expect(await stored(quiz)).toEqual(nothing)
  })

  it.each(['released', 'closed'] as const)('returns 404 for a quiz that is %s in another academy', async (state) => {
    const academyId = id('academy')
    await world.db.organisation.create({ data: { id: academyId, kind: 'academy', name: 'Other' } })
    await world.db.membership.create({ data: { organisationId: academyId, personId: world.ids.member } })
    const quiz = await mint(choices, { academyId, state })
    expectRefusal(await submit(quiz, right), 404, 'not_found', NO_QUIZ)
    expect(await stored(quiz)).toEqual(nothing)
    if (state === 'closed') return
    expect((await submit(quiz, right, { claims: { organisation: academyId } })).status).toBe(201)
  })

  it.each([
    ['is closed', { state: 'closed' }, choices, CLOSED],
    ['has no questions', {}, [], EMPTY],
  ] as const)('is a 409 when its quiz %s, and stores nothing', async (_, more, questions, [message, reason]) => {
    const quiz = await mint([...questions], { ...more, lessonId: await mintLesson() })
    expectRefusal(await submit(quiz, {}), 409, 'conflict', message, reason)
    expectRefusal(await submit(quiz, {}, withKey('k')), 409, 'conflict', message, reason)
    expect(await stored(quiz)).toEqual(nothing)
  })

  it("returns 409 when the member's attempts are used up", async () => {
    const quiz = await mint(choices, { attemptsAllowed: 2 })
    expect((await submit(quiz, {})).status).toBe(201)
    expect((await submit(quiz, right)).status).toBe(201)
    const before = await stored(quiz)
    expectRefusal(await submit(quiz, right), 409, 'conflict', ...EXHAUSTED)
    expectRefusal(await submit(quiz, right, withKey('k')), 409, 'conflict', ...EXHAUSTED)
    expect(await stored(quiz)).toEqual(before)

    const claims = { sub: await mintLearner() }
    expect((await submit(quiz, right, { claims })).status).toBe(201)
  })
})

describe('the order of refusals', () => {
  it('checks the form of key and answers before the quiz', async () => {
    expectRefusal(await submit('nowhere', {}, withKey('a b')), 400, 'invalid_request', BAD_KEY)
    expectRefusal(await submit('nowhere', []), 400, 'invalid_request', NOT_OBJECT)
    const closed = await mint(choices, { state: 'closed' })
    expectRefusal(await submit(closed, null), 400, 'invalid_request', NOT_OBJECT)
  })

  it('checks the quiz before the answers', async () => {
    for (const quiz of ['nowhere', 'a\0b', 'x'.repeat(256)]) {
      expectRefusal(await submit(quiz, { q9: 1 }, withKey('k')), 404, 'not_found', NO_QUIZ)
    }
  })

  it('checks the key before the state of the quiz', async () => {
    const quiz = await mint(choices)
    await submit(quiz, right, withKey('k'))
    await world.db.quiz.update({ where: { id: quiz }, data: { state: 'closed' } })
    expectRefusal(await submit(quiz, {}, withKey('k')), 409, 'conflict', ...MISMATCH)
    expectRefusal(await submit(quiz, { q9: 1 }, withKey('k')), 409, 'conflict', ...MISMATCH)
    expectRefusal(await submit(quiz, {}, withKey('other')), 409, 'conflict', ...CLOSED)
  })

  it('checks closed, then empty, then attempts, then the answers', async () => {
    const quiz = await mint([q1], { attemptsAllowed: 1 })
    await submit(quiz, {})
    expectRefusal(await submit(quiz, { q9: 1 }), 409, 'conflict', ...EXHAUSTED)
    await world.db.question.deleteMany({ where: { quizId: quiz } })
    expectRefusal(await submit(quiz, { q9: 1 }), 409, 'conflict', ...EMPTY)
    await world.db.quiz.update({ where: { id: quiz }, data: { state: 'closed' } })
    expectRefusal(await submit(quiz, { q9: 1 }), 409, 'conflict', ...CLOSED)
  })
})

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
