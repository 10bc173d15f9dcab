import { afterAll, beforeAll } from 'vitest'
import type { Call } from '../support/request.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

/** The service and tenant of the test file that called `startQuizTenant`. */
export let world: World
export function startQuizTenant() {
  beforeAll(async () => {
    world = await startWorld()
  })
  afterAll(() => world.close())
}

export const DAY = 86_400

export interface Question {
  id: string
  text?: string
  type: 'single' | 'multiple' | 'text' | 'image' | 'file'
  options?: string[]
  solution?: string[]
}

export const q1: Question = { id: 'q1', type: 'single', options: ['Red', 'Green', 'Blue'], solution: ['Green'] }
export const q2: Question = { id: 'q2', type: 'single', options: ['2', '3', '4'], solution: ['4'] }
export const q3: Question = { id: 'q3', type: 'multiple', options: ['A', 'B', 'C', 'D'], solution: ['A', 'C'] }
export const choices = [q1, q2, q3]
export const right = { q1: 'Green', q2: '4', q3: ['A', 'C'] }

/** Creates a quiz of this world's academy: released, with the threshold 60, unless `more` says otherwise. */
export async function mint(questions: Question[], more: Record<string, unknown> = {}) {
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

export async function mintLesson() {
  const lessonId = id('lesson')
  await world.db.lesson.create({ data: { id: lessonId, academyId: world.ids.academy, title: 'Lesson' } })
  return lessonId
}

export async function mintLearner() {
  const personId = id('person')
  await world.db.person.create({ data: { id: personId, firstName: 'L', lastName: 'L', email: 'l@example.org' } })
  await world.db.membership.create({ data: { organisationId: world.ids.academy, personId } })
  return personId
}

export async function mintClient(level: 'hobby' | 'developer' = 'developer') {
  const [teamId, clientId] = [id('team'), id('client')]
  await world.db.team.create({ data: { id: teamId, name: 'T', level } })
  await world.db.client.create({ data: { id: clientId, name: 'C', teamId, environment: 'production' } })
  return clientId
}

export const post = (quiz: string, body: unknown, options: Call = {}) =>
  world.call('POST', `/quizzes/${encodeURIComponent(quiz)}/results`, { body, ...options })
export const submit = (quiz: string, answers: unknown, options: Call = {}) => post(quiz, { answers }, options)
export const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })

/** Counts every row that a submission may store. */
export async function stored(quizId: string) {
  const results = await world.db.quizResult.count({ where: { quizId } })
  const answers = await world.db.answer.count({ where: { quizId } })
  const records = await world.db.idempotencyRecord.count({ where: { quizId } })
  const completions = await world.db.lessonCompletion.count({
    where: { lesson: { quizzes: { some: { id: quizId } } } },
  })
  return { results, answers, records, completions }
}
export const nothing = { results: 0, answers: 0, records: 0, completions: 0 }

export const NOT_OBJECT = 'answers must be an object that maps question ids to answers.'
export const NO_SUCH_QUESTION = 'answers contains a question that is not in this quiz.'
export const MISFIT = 'An answer does not match the type of its question.'
export const BAD_KEY = 'Idempotency-Key must be 1 to 255 visible ASCII characters.'
export const NO_QUIZ = 'This quiz does not exist in this academy.'
export const CLOSED = ['This quiz is closed.', 'quiz_closed'] as const
export const EMPTY = ['This quiz has no questions.', 'quiz_empty'] as const
export const EXHAUSTED = ['All attempts at this quiz have been used.', 'attempts_exhausted'] as const
export const MISMATCH = [
  'This Idempotency-Key was already used with a different body.',
  'idempotency_mismatch',
] as const
