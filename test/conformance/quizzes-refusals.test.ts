import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../support/refusal.ts'
import { id } from '../support/tenant.ts'
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
  right,
  startQuizTenant,
  stored,
  submit,
  withKey,
  world,
} from './quiz-tenant.ts'

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
