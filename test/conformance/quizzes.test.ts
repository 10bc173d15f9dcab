import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database, Transaction } from '../../prisma/client.ts'
import { callAs } from '../../routers/core.ts'
import { forgetExpired } from '../../routers/quizzes/idempotency.ts'
import { expectRefusal } from '../support/refusal.ts'
import type { Call, Reply, World } from '../support/world.ts'
import { id, startWorld } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const SCOPE = 'lms.me.quizzes:write'
const DAY = 86_400

interface Question {
  id: string
  type: 'single' | 'multiple' | 'text' | 'image' | 'file'
  options?: string[]
  solution?: string[]
}

const q1: Question = { id: 'q1', type: 'single', options: ['Red', 'Green', 'Blue'], solution: ['Green'] }
const q2: Question = { id: 'q2', type: 'single', options: ['2', '3', '4'], solution: ['4'] }
const q3: Question = { id: 'q3', type: 'multiple', options: ['A', 'B', 'C', 'D'], solution: ['A', 'C'] }
const choices = [q1, q2, q3]
const right = { q1: 'Green', q2: '4', q3: ['A', 'C'] }

/** Creates a quiz of this world's academy: released, with the threshold 60, unless `more` says otherwise. */
async function mint(questions: Question[], more: Record<string, unknown> = {}) {
  const quizId = id('quiz')
  const data = {
    id: quizId,
    academyId: world.ids.academy,
    title: 'Quiz',
    threshold: 60,
    state: 'released' as const,
    ...more,
  }
  await world.db.quiz.create({ data })
  await world.db.question.createMany({
    data: questions.map((question, position) => ({
      text: '?',
      quizId,
      position,
      options: [],
      solution: [],
      ...question,
    })),
  })
  return quizId
}

async function mintLesson() {
  const lessonId = id('lesson')
  await world.db.lesson.create({ data: { id: lessonId, academyId: world.ids.academy, title: 'Lesson' } })
  return lessonId
}

async function mintLearner() {
  const personId = id('person')
  await world.db.person.create({ data: { id: personId, firstName: 'L', lastName: 'L', email: 'l@example.org' } })
  await world.db.membership.create({ data: { organisationId: world.ids.academy, personId } })
  return personId
}

async function mintClient(level: 'hobby' | 'developer' = 'developer') {
  const [teamId, clientId] = [id('team'), id('client')]
  await world.db.team.create({ data: { id: teamId, name: 'T', level } })
  await world.db.client.create({ data: { id: clientId, name: 'C', teamId, environment: 'production' } })
  return clientId
}

const post = (quiz: string, body: unknown, options: Call = {}) =>
  world.call('POST', `/quizzes/${encodeURIComponent(quiz)}/results`, { body, ...options })
const submit = (quiz: string, answers: unknown, options: Call = {}) => post(quiz, { answers }, options)
const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })

/** Counts every row that a submission may store. */
async function stored(quizId: string) {
  const results = await world.db.quizResult.count({ where: { quizId } })
  const answers = await world.db.answer.count({ where: { quizId } })
  const records = await world.db.idempotencyRecord.count({ where: { quizId } })
  const completions = await world.db.lessonCompletion.count({
    where: { lesson: { quizzes: { some: { id: quizId } } } },
  })
  return { results, answers, records, completions }
}
const nothing = { results: 0, answers: 0, records: 0, completions: 0 }

const NOT_OBJECT = 'answers is an object that maps question ids to answers.'
const NO_SUCH_QUESTION = 'answers names a question that this quiz does not have.'
const MISFIT = 'An answer does not fit the type of its question.'
const BAD_KEY = 'Idempotency-Key is 1 to 255 visible ASCII characters.'
const NO_QUIZ = 'This quiz does not exist in this academy.'
const CLOSED = ['This quiz is closed.', 'quiz_closed'] as const
const EMPTY = ['This quiz has no questions.', 'quiz_empty'] as const
const EXHAUSTED = ['All attempts at this quiz are used up.', 'attempts_exhausted'] as const
const MISMATCH = ['This Idempotency-Key came with another body before.', 'idempotency_mismatch'] as const

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

  it('passes when the exact ratio reaches the threshold', async () => {
    const answers = { q1: 'Green', q2: '4' }
    expect((await submit(await mint(choices, { threshold: 66.66 }), answers)).body.passed).toBe(true)
    expect((await submit(await mint(choices, { threshold: 66.67 }), answers)).body.passed).toBe(false)
    expect((await submit(await mint([q1, q2], { threshold: 50 }), { q1: 'Green' })).body.passed).toBe(true)
  })

  it('stores every answer as sent, with its grade', async () => {
    const questions: Question[] = [...choices, { id: 't', type: 'text' }, { id: 'f', type: 'file' }]
    const quizId = await mint(questions, { threshold: 42.5 })
    const sent = { t: 'NUL \0, half \ud83d, "quotes"', q3: ['C', 'A', 'C'], q1: 'Red' }
    const { body } = await submit(quizId, sent)

    const result = await world.db.quizResult.findUniqueOrThrow({ where: { id: body.id }, include: { answers: true } })
    expect(result).toMatchObject({
      ...body,
      quizId,
      personId: world.ids.member,
      threshold: 42.5,
    })
    expect(Math.abs(result.submittedAt.getTime() / 1000 - world.now())).toBeLessThan(10)
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

  it('creates a new id each time', async () => {
    const quiz = await mint(choices)
    const replies = await Promise.all(Array.from({ length: 10 }, () => submit(quiz, right)))
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(10)
    expect(await stored(quiz)).toEqual({ results: 10, answers: 30, records: 0, completions: 0 })
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
    const bodyOf = (bytes: number) => `{"answers":{"t":"${'x'.repeat(bytes - 20)}"}}`
    expect((await post(quiz, bodyOf(1_048_576))).status).toBe(201)
    const { status, body } = await post(quiz, bodyOf(1_048_577))
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' })
    expect((await stored(quiz)).results).toBe(1)
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
      const { body } = await submit(await mint(questions, { lessonId }), answers)
      expect(body.reviewStatus).toBe(reviewStatus)
      const completions = await world.db.lessonCompletion.findMany({ where: { lessonId } })
      expect(completions.map(({ personId }) => personId)).toEqual([world.ids.member])
      expect(Math.abs(completions[0]!.completedAt.getTime() / 1000 - world.now())).toBeLessThan(10)
    },
  )

  it('keeps the time of the first attempt', async () => {
    const lessonId = await mintLesson()
    const quizzes = [await mint(choices, { lessonId }), await mint([q1], { lessonId })]
    await submit(quizzes[0]!, {})
    const first = await world.db.lessonCompletion.findMany({ where: { lessonId } })
    world.advance(60)
    await Promise.all(quizzes.map((quiz) => submit(quiz, {})))
    expect(await world.db.lessonCompletion.findMany({ where: { lessonId } })).toEqual(first)
  })

  it('is completed once by concurrent attempts', async () => {
    const lessonId = await mintLesson()
    const quiz = await mint(choices, { lessonId })
    const replies = await Promise.all(Array.from({ length: 12 }, () => submit(quiz, right)))
    expect(replies.map(({ status }) => status)).toEqual(Array(12).fill(201))
    expect(await stored(quiz)).toEqual({ results: 12, answers: 36, records: 0, completions: 1 })
  })
})

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

  it.each([
    ['null', 'null'],
    ['an array', '[]'],
    ['a string', '"answers"'],
    ['truncated', '{"answers":{'],
    ['empty', ''],
  ])('returns 400 when the body is %s', async (_, body) => {
    const quiz = await mint(choices)
    const reply = await post(quiz, body)
    expect({ status: reply.status, code: reply.body.error.code }).toEqual({ status: 400, code: 'invalid_request' })
    expect(await stored(quiz)).toEqual(nothing)
  })

  it.each([
    ['is empty', ''],
    ['has a space', 'a b'],
    ['is not ASCII', 'schl\u00fcssel'],
    ['has 256 characters', 'k'.repeat(256)],
  ])('returns 400 when the Idempotency-Key %s', async (_, key) => {
    const quiz = await mint(choices)
    expectRefusal(await submit(quiz, right, withKey(key)), 400, 'invalid_request', BAD_KEY)
    expect(await stored(quiz)).toEqual(nothing)
  })

  it('returns 400 for two Idempotency-Keys', async () => {
    const quiz = await mint(choices)
    const headers = { 'idempotency-key': ['a', 'b'] } as unknown as Record<string, string>
    expectRefusal(await submit(quiz, right, { headers }), 400, 'invalid_request', BAD_KEY)
    expect(await stored(quiz)).toEqual(nothing)
  })

  it('returns 401 without a token', async () => {
    const quiz = await mint(choices)
    const reply = await submit(quiz, right, { token: null })
    expectRefusal(reply, 401, 'invalid_token', 'This token is not valid.')
    expect(await stored(quiz)).toEqual(nothing)
  })

  it('returns 403 without the scope, before the body is read', async () => {
    const quiz = await mint(choices)
    const options = { claims: { scope: 'svc.me.profile:read ntf.apps.webhook:update' } }
    const message = `This token does not carry the ${SCOPE} scope.`
    expectRefusal(await submit(quiz, right, options), 403, 'missing_scope', message)
    expectRefusal(await post(quiz, '{', options), 403, 'missing_scope', message)
    expect(await stored(quiz)).toEqual(nothing)
  })

  it('returns 403 below the Developer membership', async () => {
    const quiz = await mint(choices)
    const reply = await submit(quiz, right, { claims: { client_id: await mintClient('hobby') } })
    expectRefusal(reply, 403, 'missing_scope', 'The Developer membership is needed for this API.')
    expect(await stored(quiz)).toEqual(nothing)
  })

  it('returns 404 for former members and people outside the academy', async () => {
    const quiz = await mint(choices)
    const message = 'This member does not exist in this academy.'
    const past = await mintLearner()
    const leftAt = new Date(world.now() * 1000)
    await world.db.membership.updateMany({ where: { personId: past }, data: { leftAt } })
    for (const claims of [{ sub: past }, { sub: id('person') }, { organisation: world.ids.club }]) {
      expectRefusal(await submit(quiz, right, { claims }), 404, 'not_found', message)
    }
    expect(await stored(quiz)).toEqual(nothing)
  })

  it.each([
    ['unknown', 'nothing-like-it'],
    ['a NUL', '%00'],
    ['an id with a NUL', 'a%00b'],
    ['of 256 characters', 'x'.repeat(256)],
    ['of 10,000 characters', 'x'.repeat(10_000)],
    ['a relative path', '..%2F..'],
    ['an attempt at SQL', "'%22;--"],
    ['not ASCII', '%F0%9F%98%80'],
  ])('returns 404 when the quiz id is %s', async (_, quiz) => {
    const reply = await world.call('POST', `/quizzes/${quiz}/results`, { body: { answers: {} } })
    expectRefusal(reply, 404, 'not_found', NO_QUIZ)
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

  it('does not use up an attempt', async () => {
    const quiz = await mint(choices, { attemptsAllowed: 1 })
    expect((await submit(quiz, { q9: '' })).status).toBe(400)
    expect((await submit(quiz, right)).status).toBe(201)
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
    expectRefusal(await submit('nowhere', { q9: 1 }, withKey('k')), 404, 'not_found', NO_QUIZ)
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

  it('can be reused after a refusal', async () => {
    const quiz = await mint(choices)
    expect((await submit(quiz, { q9: 1 }, withKey('k'))).status).toBe(400)
    expect((await submit(quiz, right, withKey('k'))).status).toBe(201)
  })

  it('is remembered for 24 hours', async () => {
    const quiz = await mint(choices)
    const first = await submit(quiz, right, withKey('k'))
    world.advance(DAY - 20)
    expect((await submit(quiz, right, withKey('k'))).text).toBe(first.text)
    world.advance(20)
    const second = await submit(quiz, {}, withKey('k'))
    expect(second.status).toBe(201)
    expect(second.body.id).not.toBe(first.body.id)
    expect((await submit(quiz, {}, withKey('k'))).text).toBe(second.text)
    expectRefusal(await submit(quiz, right, withKey('k')), 409, 'conflict', ...MISMATCH)
    expect(await stored(quiz)).toMatchObject({ results: 2, records: 1 })
  })

  it('is deleted after 24 hours', async () => {
    // A time before the records of all other tests.
    const start = Date.parse('2001-02-03T04:05:06Z')
    const { client: clientId, member: personId, academy: organisationId } = world.ids
    const quizId = await mint(choices)
    const keep = { clientId, personId, organisationId, quizId, bodyHash: '', answer: '{}' }
    await world.db.idempotencyRecord.createMany({
      data: [0, 1, 1000].map((ms) => ({ ...keep, key: `k${ms}`, createdAt: new Date(start + ms) })),
    })
    const left = async () => (await stored(quizId)).records
    expect([await forgetExpired(world.db, start + DAY * 1000 - 1), await left()]).toEqual([0, 3])
    expect([await forgetExpired(world.db, start + DAY * 1000), await left()]).toEqual([1, 2])
    expect([await forgetExpired(world.db, start + DAY * 1000 + 999), await left()]).toEqual([1, 1])
  })
})

/** A caller as on another node: it shares only the database. */
const node = () =>
  callAs(
    { ...world.core, db: world.db.$extends({}) as unknown as Database },
    world.principal({ organisation: world.ids.academy }),
  ).quizzes
const statuses = (replies: Reply[]) => replies.map(({ status }) => status).sort()

describe('concurrent submissions', () => {
  it.each([null, 1])('store one result for 64 equal requests with one key (attempts: %s)', async (attemptsAllowed) => {
    const quiz = await mint(choices, { attemptsAllowed, lessonId: await mintLesson() })
    const replies = await Promise.all(Array.from({ length: 64 }, () => submit(quiz, right, withKey('same'))))
    expect(statuses(replies)).toEqual(Array(64).fill(201))
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1)
    expect(await stored(quiz)).toEqual({ results: 1, answers: 3, records: 1, completions: 1 })
  })

  it.each([null, 1])('store one result for 64 equal requests on 64 nodes (attempts: %s)', async (attemptsAllowed) => {
    const quizId = await mint(choices, { attemptsAllowed })
    const repeat = () => node().submit({ quizId, idempotencyKey: 'same', answers: right })
    const results = await Promise.all(Array.from({ length: 64 }, repeat))
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1)
    expect(await stored(quizId)).toEqual({ results: 1, answers: 3, records: 1, completions: 0 })
  })

  it('store one result when they replace an expired record', async () => {
    const quiz = await mint(choices)
    await submit(quiz, {}, withKey('k'))
    world.advance(DAY)
    const repeat = () => node().submit({ quizId: quiz, idempotencyKey: 'k', answers: right })
    const results = await Promise.all(Array.from({ length: 16 }, repeat))
    expect(new Set(results.map(({ id }) => id)).size).toBe(1)
    expect(await stored(quiz)).toEqual({ results: 2, answers: 6, records: 1, completions: 0 })
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

  it('use up exactly the attempts allowed on several nodes', async () => {
    const quizId = await mint(choices, { attemptsAllowed: 3 })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, () => node().submit({ quizId, answers: right })),
    )
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.reason] : []))
    expect(reasons).toEqual(Array(27).fill('attempts_exhausted'))
    expect((await stored(quizId)).results).toBe(3)
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
        // The first to check gives way: the attempt, after three seconds.
        await tx.$executeRaw`SET LOCAL deadlock_timeout = '30s'`
        return tx.membership.updateMany({ where: { personId: sub }, data: { joinedAt: new Date(0) } })
      },
    )
    expect(reply.status).toBe(201)
    expect(await stored(quiz)).toEqual({ results: 1, answers: 3, records: 0, completions: 0 })
  })
})

describe('1 MiB of hostile answers', () => {
  it.each([
    ['without a key', undefined],
    ['with a used key', 'k'],
  ])('is refused, %s', async (_, key) => {
    const quiz = await mint(choices)
    const options = key === undefined ? {} : withKey(key)
    if (key) await submit(quiz, right, options)
    const answers = Object.fromEntries(Array.from({ length: 80_000 }, (_, n) => [`q${n}`, 'x']))
    const reply = await submit(quiz, answers, options)
    expect(reply.status).toBe(key ? 409 : 400)
    const deep = `{"answers":{"q1":${'['.repeat(50)}${']'.repeat(50)},"q2":"","q3":[]}}`
    expect((await post(quiz, deep, options)).status).toBe(key ? 409 : 400)
    expect((await stored(quiz)).results).toBe(key ? 1 : 0)
  })
})
