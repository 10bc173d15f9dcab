import { questions } from '../../../prisma/demo-quizzes.ts'

/** One quiz that is graded at once, one that a person has to review, and one that takes no more attempts: as in the demo data. */
export function quizzesOf(academyId: string) {
  const own = (name: string) => `${academyId}-${name}`
  const lesson = { id: own('lesson'), academyId, title: 'Basics' }
  const quizzes = [
    { name: 'choice-quiz', title: 'Basics', lessonId: lesson.id, state: 'released' },
    { name: 'open-quiz', title: 'Practice', lessonId: null, state: 'released' },
    { name: 'closed-quiz', title: 'Examination of last year', lessonId: null, state: 'closed' },
  ] as const
  return {
    lesson: [lesson],
    quiz: quizzes.map(({ name, ...quiz }) => ({ id: own(name), academyId, threshold: 60, ...quiz })),
    question: quizzes.flatMap(({ name }) =>
      questions[name].map((question, index) => ({
        ...{ quizId: own(name), id: `q${index + 1}`, position: index + 1 },
        ...question,
      })),
    ),
  }
}
