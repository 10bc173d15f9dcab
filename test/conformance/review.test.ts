import type { TRPCClientError } from '@trpc/client'
import { createTRPCClient, httpLink } from '@trpc/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AppRouter } from '../../routers/index.ts'
import { times } from '../support/rounds.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

const SCOPE = 'lms.reviews:write'

let world: World
let other: World
let platform: string
beforeAll(async () => {
  world = await startWorld()
  other = await startWorld({ like: world })
  platform = id('platform')
  await world.db.client.create({ data: { id: platform, name: 'Platform', environment: 'production' } })
})
afterAll(() => Promise.all([world.close(), other.close()]))

/** Calls quizzes.review, by default as the platform for this world's academy. */
const reviewer = (claims: Record<string, unknown> = {}, at = world) => {
  const token = { sub: undefined, client_id: platform, organisation: world.ids.academy, scope: SCOPE, ...claims }
  const headers = async () => ({ authorization: `Bearer ${await at.token(token)}` })
  const url = `http://127.0.0.1:${at.internalPort}/trpc`
  return createTRPCClient<AppRouter>({ links: [httpLink({ url, headers })] }).quizzes.review
}
const review = (result: unknown, grades: unknown, claims?: Record<string, unknown>, at?: World) =>
  reviewer(claims, at).mutate({ result, grades } as never)

const refusal = (review: Promise<unknown>) =>
  review.then(
    (outcome) => ({ outcome }),
    ({ message, data }: TRPCClientError<AppRouter>) => ({
      status: data?.httpStatus,
      error: data?.error,
      ...(data?.reason && { reason: data.reason }),
      message,
    }),
  )
const misfit = {
  status: 400,
  error: 'invalid_request',
  message: 'grades must have exactly one boolean for each open question of the result.',
}
const unknown = { status: 404, error: 'not_found', message: 'This result does not exist in this academy.' }
const notPending = {
  status: 409,
  error: 'conflict',
  reason: 'already_reviewed',
  message: 'This result is not awaiting review.',
}

/** Submits a quiz with one choice question for each of `choices` (c0, c1, …) and the open questions `open`. */
async function submitted(choices: boolean[], open: string[], threshold = 60, headers: Record<string, string> = {}) {
  const quizId = id('quiz')
  const { academy } = world.ids
  await world.db.quiz.create({
    data: { id: quizId, academyId: academy, title: 'Quiz', threshold, state: 'released' },
  })
  const types = ['text', 'image', 'file'] as const
  const questions = [
    ...choices.map((_, n) => ({ id: `c${n}`, type: 'single' as const, options: ['yes', 'no'], solution: ['yes'] })),
    ...open.map((name, n) => ({ id: name, type: types[n % 3]!, options: [], solution: [] })),
  ]
  await world.db.question.createMany({
    data: questions.map((question, position) => ({ ...question, quizId, position, text: '?' })),
  })
  const answers = Object.fromEntries(choices.map((right, n) => [`c${n}`, right ? 'yes' : 'no']))
  const submit = () => world.call('POST', `/quizzes/${quizId}/results`, { body: { answers }, headers })
  const reply = await submit()
  expect(reply.status).toBe(201)
  return { quizId, answer: reply.body, result: reply.body.id as string, submit }
}

/** The result, and the grade of each answer by question id. */
async function stored(result: string) {
  const { answers, ...row } = await world.db.quizResult.findUniqueOrThrow({
    where: { id: result },
    include: { answers: true },
  })
  const graded = Object.fromEntries(answers.map(({ questionId, correct }) => [questionId, correct]))
  return { row, graded, values: answers.map(({ value }) => value).sort() }
}

describe('quizzes.review', () => {
  it.each([
    ['passed', 100, [true], { t: true }],
    ['passed', 66.67, [true, false], { t: true }],
    ['failed', 33.33, [true, false], { t: false }],
    ['failed', 0, [], { t: false, i: false, f: false }],
    ['passed', 66.67, [], { t: true, i: true, f: false }],
    ['passed', 75, [true, true, true], { f: false }],
  ] as const)('sets the result to %s with %d percent', async (reviewStatus, score, choices, grades) => {
    const { result, answer } = await submitted([...choices], Object.keys(grades))
    const before = await stored(result)
    const gradedQuestions = choices.length
    expect(answer).toMatchObject({ reviewStatus: 'pending_review', passed: false, gradedQuestions })

    const outcome = { id: result, score, passed: reviewStatus === 'passed', reviewStatus, gradedQuestions }
    expect(await review(result, grades)).toEqual(outcome)
    const { row, graded, values } = await stored(result)
    expect(row).toEqual({ ...before.row, ...outcome })
    expect(graded).toEqual({ ...before.graded, ...grades })
    expect(values).toEqual(before.values)
  })

  it('passes when the score that is shown reaches the threshold stored with the result', async () => {
    const { quizId, result } = await submitted([true, true], ['t'], 66.66)
    await world.db.quiz.update({ where: { id: quizId }, data: { threshold: 100, state: 'closed' } })
    expect(await review(result, { t: false })).toMatchObject({ score: 66.67, passed: true })
    const just = await submitted([true], ['t'], 50)
    expect(await review(just.result, { t: false })).toMatchObject({ score: 50, passed: true })
    // The ratio is 2/3, which is below 66.67.
    const rounded = await submitted([true, true], ['t'], 66.67)
    expect(await review(rounded.result, { t: false })).toMatchObject({ score: 66.67, passed: true })
    const above = await submitted([true, true], ['t'], 66.68)
    expect(await review(above.result, { t: false })).toMatchObject({ score: 66.67, passed: false })
  })

  it('grades the questions of the attempt, even after the quiz has changed', async () => {
    const { quizId, result } = await submitted([true], ['t'])
    await world.db.question.create({ data: { quizId, id: 'new', position: 9, type: 'text', text: '?' } })
    expect(await refusal(review(result, { t: true, new: true }))).toEqual(misfit)
    expect(await review(result, { t: true })).toMatchObject({ score: 100, gradedQuestions: 1 })
  })

  it('accepts question ids such as __proto__', async () => {
    const names = ['__proto__', 'constructor', 'toString']
    const { result } = await submitted([], names)
    const grades = JSON.parse('{"__proto__":true,"constructor":false,"toString":true}')
    for (const wrong of [
      { constructor: false, toString: true },
      { x: true, y: true, z: true },
    ]) {
      expect(await refusal(review(result, wrong))).toEqual(misfit)
    }
    expect(await review(result, grades)).toMatchObject({ score: 66.67 })
    expect(Object.entries((await stored(result)).graded).sort()).toEqual(Object.entries(grades).sort())
  })

  it('leaves the answer stored for the Idempotency-Key unchanged', async () => {
    const { result, answer, submit } = await submitted([true], ['t'], 60, { 'idempotency-key': 'k' })
    await review(result, { t: true })
    const reviewed = await stored(result)
    const again = await submit()
    expect([again.status, again.body]).toEqual([201, answer])
    expect(again.body.reviewStatus).toBe('pending_review')
    expect(await stored(result)).toEqual(reviewed)
  })
})

describe('a refused review', () => {
  it.each([
    ['missing', undefined],
    ['null', null],
    ['an array', [true, true]],
    ['a string', 'true'],
    ['empty', {}],
    ['one question short', { t: true }],
    ['one question too many', { t: true, i: true, x: true }],
    ['those of another question', { t: true, x: true }],
    ['those of a graded question too', { t: true, i: true, c0: true }],
    ['those of a graded question instead', { t: true, c0: true }],
    ['those of __proto__', JSON.parse('{"t":true,"__proto__":true}')],
    ['those of constructor', { t: true, constructor: true }],
    ['null for one question', { t: true, i: null }],
    ['a number for one question', { t: true, i: 1 }],
    ['a string for one question', { t: true, i: 'true' }],
    ['a list for one question', { t: true, i: [true] }],
  ])('returns 400 and changes nothing when grades are %s', async (_, grades) => {
    const { result } = await submitted([true], ['t', 'i'])
    const before = await stored(result)
    expect(await refusal(review(result, grades))).toEqual(misfit)
    expect(await stored(result)).toEqual(before)
    expect(before.row.reviewStatus).toBe('pending_review')
  })

  it('returns 404 for another academy, an unknown result and a malformed id', async () => {
    const { result } = await submitted([], ['t'])
    const before = await stored(result)
    for (const organisation of [world.ids.club, world.ids.provider, id('academy'), 'a\0b', 'x'.repeat(300)]) {
      expect(await refusal(review(result, { t: true }, { organisation }))).toEqual(unknown)
    }
    for (const wrong of [id('result'), '', 'a\0b', 'x'.repeat(300), `${result} `, result.toUpperCase(), '\ud800']) {
      expect(await refusal(review(wrong, { t: true }))).toEqual(unknown)
    }
    expect(await stored(result)).toEqual(before)
  })

  it('returns 409 for a second review, whatever its grades', async () => {
    const { result } = await submitted([true], ['t'])
    await review(result, { t: false })
    const before = await stored(result)
    for (const grades of [{ t: true }, { t: false }, {}, { x: true }]) {
      expect(await refusal(review(result, grades))).toEqual(notPending)
    }
    expect(await stored(result)).toEqual(before)
    expect(before.row.reviewStatus).toBe('failed')
  })

  it.each([['passed', true] as const, ['failed', false] as const])(
    'returns 409 for a result that was graded as %s',
    async (reviewStatus, right) => {
      const { result } = await submitted([right], [])
      const before = await stored(result)
      expect(await refusal(review(result, {}))).toEqual(notPending)
      expect(await refusal(review(result, { c0: true }))).toEqual(notPending)
      expect(await stored(result)).toEqual(before)
      expect(before.row.reviewStatus).toBe(reviewStatus)
    },
  )
})

describe('20 concurrent reviews', () => {
  it('have one winner, and all stored grades are its own', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    for (let round = 0; round < times(20, 3); round++) {
      const { result } = await submitted([true], names)
      const tries = Array.from({ length: 20 }, (_, n) =>
        Object.fromEntries(names.map((name, bit) => [name, ((n >> bit) & 1) === 1])),
      )
      // On two services, so that more connections compete than one pool has.
      const replies = await Promise.all(
        tries.map((grades, n) => refusal(review(result, grades, {}, n % 2 ? other : world))),
      )
      const winners = replies.flatMap((reply, n) => ('outcome' in reply ? [{ ...reply, grades: tries[n]! }] : []))
      expect(winners).toHaveLength(1)
      expect(replies.filter((reply) => !('outcome' in reply))).toEqual(Array(19).fill(notPending))
      const [{ outcome, grades }] = winners as [(typeof winners)[0]]
      const { row, graded } = await stored(result)
      expect(row).toMatchObject(outcome as object)
      expect(graded).toEqual({ ...grades, c0: true })
      const right = 1 + Object.values(grades).filter(Boolean).length
      expect(row.score).toBe(Math.round((10_000 * right) / 6) / 100)
    }
  })
})
