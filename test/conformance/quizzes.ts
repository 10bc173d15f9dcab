import { makeResult } from '../support/tenant.ts'
import type { World } from '../support/world.ts'

const question = {
  id: 'q1',
  position: 1,
  type: 'single' as const,
  text: '?',
  options: ['Yes', 'No'],
  solution: ['Yes'],
}

/**
 * Stores a quiz that takes answers, with a result of the member's, and one for each refusal: `closed`, `empty`, and `once`, which
 * takes one attempt.
 */
export async function createQuizzes({ db, ids }: World) {
  const quiz = (name: string, more: object = {}, questions = [question]) =>
    db.quiz.create({
      data: {
        id: `${name}-${ids.academy}`,
        academyId: ids.academy,
        title: name,
        threshold: 50,
        state: 'released',
        ...more,
        questions: { create: questions },
      },
    })
  await Promise.all([
    quiz('open', { results: { create: makeResult(ids) } }),
    quiz('closed', { state: 'closed' }),
    quiz('empty', {}, []),
    quiz('once', { attemptsAllowed: 1 }),
  ])
}
