import { z } from 'zod'
import { choice, id, number, optional, text } from '../fields.ts'
import { ANSWERED, questions } from '../questions.ts'
import { recordType } from '../record-type.ts'
import * as to from '../references.ts'
import { quizClosed, removed } from '../removal-rules.ts'
import { isOfTestClub } from './people.ts'

const INT4_MAX = 2_147_483_647
const academyId = () => id('The academy.', { column: 'academyId', reference: to.academy })

export const lessons = recordType({
  name: 'lessons',
  table: 'Lesson',
  key: ['id'],
  fields: { id: id('The id.'), academy: academyId(), title: text('The title.') },
  fixed: 'academy',
  hidden: isOfTestClub('row."academyId"'),
  ending: removed('Lesson', ['id'], 'Removed, with its completions. Its quizzes stay, without a lesson.'),
})

export const quizzes = recordType({
  name: 'quizzes',
  table: 'Quiz',
  key: ['id'],
  fields: {
    id: id('The id.'),
    academy: academyId(),
    lesson: optional(id('The lesson.', { column: 'lessonId', reference: to.sameAcademy('Lesson') })),
    title: text('The title.'),
    threshold: number('a number from 0 to 100', z.number().min(0).max(100), 'Percent; a score equal to it passes.'),
    state: choice({ draft: 'draft', open: 'released', closed: 'closed' }, 'Only open quizzes take answers.'),
    attempts: optional({
      ...number('a whole number from 1', z.int().min(1).max(INT4_MAX), 'Attempts of a member; null: unlimited.'),
      column: 'attemptsAllowed',
    }),
    questions: questions('The questions, in order.'),
  },
  fixed: 'academy',
  // Prevents answers to a question between its check and its removal.
  lock: 'UPDATE',
  rules: [
    {
      field: 'questions',
      refuses: `${ANSWERED} IS NOT NULL`,
      value: ANSWERED,
      reason: 'has been answered: a question with answers stays, and keeps its type',
    },
  ],
  hidden: isOfTestClub('row."academyId"'),
  ending: quizClosed,
})
