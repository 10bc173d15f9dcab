import { z } from 'zod'
import { float, int, jsonArray, nullable, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { isPostgresText } from '../kernel/access.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { errors } from '../kernel/errors.ts'
import { learner } from '../kernel/policies.ts'
import { readWithin } from '../kernel/read-within.ts'
import { quizId } from './result.ts'

const question = z
  .object({
    id: z.string().meta({ description: 'Id of the question, unique in its quiz.', examples: ['q1'] }),
    type: z.enum(['single', 'multiple', 'text', 'image', 'file']).meta({
      description: 'What an answer is: one choice, several, or something that a person grades.',
      examples: ['single'],
    }),
    text: z.string().meta({ description: 'The question.', examples: ['Which colour is the flag?'] }),
    options: z.array(z.string()).meta({
      description: 'The choices, in order; empty for questions without choices.',
      examples: [['Red', 'Green']],
    }),
  })
  .meta({ title: 'Question', description: 'A question of a quiz.' })

const output = z
  .object({
    id: quizId,
    title: z.string().meta({ description: 'Title of the quiz.', examples: ['Grundlagen'] }),
    threshold: z.number().meta({ description: 'Percentage that is needed to pass.', examples: [60] }),
    attemptsAllowed: z
      .int()
      .nullable()
      .meta({ description: 'How many attempts a member has; null for any number.', examples: [3] }),
    attemptsUsed: z.int().meta({ description: "Number of the member's attempts.", examples: [1] }),
    questions: z.array(question).meta({ description: 'The questions, in order, without solutions.' }),
  })
  .meta({ title: 'Quiz', description: 'A quiz, as the member may take it.' })

/** The quiz as of one moment. `bytes` is the size of its questions, which are null when it exceeds `maxBytes`. */
const read = statement(
  'quiz_read',
  `SELECT id, title, state, threshold, "attemptsAllowed",
      (SELECT count(*) FROM "QuizResult" WHERE "quizId" = quiz.id AND "personId" = $member) AS "attemptsUsed",
      octet_length(questions::text) AS bytes,
      CASE WHEN octet_length(questions::text) <= $maxBytes THEN questions END AS questions
    FROM "Quiz" quiz CROSS JOIN LATERAL
      (SELECT coalesce(json_agg(json_build_object('id', id, 'type', type, 'text', text, 'options', coalesce(options, '{}'))
        ORDER BY position), '[]') AS questions FROM "Question" WHERE "quizId" = quiz.id) asked
    WHERE quiz.id = $id AND "academyId" = $academy AND state <> 'draft'`,
  { id: text, academy: text, member: text, maxBytes: int },
  {
    id: text,
    title: text,
    state: oneOf('draft', 'released', 'closed'),
    threshold: float,
    attemptsAllowed: nullable(int),
    attemptsUsed: int,
    bytes: int,
    questions: nullable(jsonArray<z.output<typeof question>>()),
  },
)

export const get = endpoint('GET /quizzes/{quizId}', 'lms.me.quizzes:read', learner, {
  section: 'sync',
  summary: 'A quiz and its questions',
  description:
    'An open quiz of the academy of the token, with its questions as they are asked and without solutions. It stays readable when the attempts are used up; a closed quiz is 409, as for an attempt.',
  returns: 'The quiz with its questions.',
  fails: ['quizUnknown', 'quizClosed'],
})
  .input(z.object({ quizId }))
  .output(output)
  .query(async ({ ctx: { core, call, member, academy }, input: { quizId: id } }) => {
    if (!isPostgresText(id)) throw errors.quizUnknown()
    const [row] = await readWithin(call.reserve, (maxBytes) => core.db.execute(read, { id, academy, member, maxBytes }))
    if (!row) throw errors.quizUnknown()
    const { state, bytes, questions, ...quiz } = row
    if (state === 'closed') throw errors.quizClosed()
    return { ...quiz, questions: questions! }
  })
