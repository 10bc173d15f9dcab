import { describe, expect, it } from 'vitest'
import type { Question } from './quiz-tenant.ts'
import {
  choices,
  mint,
  mintLesson,
  post,
  q1,
  q2,
  q3,
  right,
  startQuizTenant,
  stored,
  submit,
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
    const bodyOf = (bytes: number) => `{"answers":{"t":""}}${' '.repeat(bytes - 20)}`
    expect((await post(quiz, bodyOf(1_048_576))).status).toBe(201)
    const { status, body } = await post(quiz, bodyOf(1_048_577))
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
