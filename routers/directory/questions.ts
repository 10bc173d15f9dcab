import { z } from 'zod'
import { asRead } from '../kernel/equal-texts.ts'
import type { Field, Form } from './fields.ts'
import { boundedText, idSchema, plain } from './fields.ts'
import { textList } from './lists.ts'
import { shown } from './refusals.ts'

const types = ['single', 'multiple', 'text', 'image', 'file'] as const

export interface QuestionRecord {
  id: string
  type: (typeof types)[number]
  text: string
  options?: string[]
  solution?: string[]
}

const chosen = (type: string) => type === 'single' || type === 'multiple'

/** Each solution as its option is written, undefined where no option is equal for a reader. */
function solutionAmong(options: readonly string[], solution: readonly string[]) {
  const written = new Map(options.map((option) => [asRead(option), option]))
  return solution.map((text) => (options.includes(text) ? text : written.get(asRead(text))))
}

/** The first two texts that are equal for a reader. */
function equalIn(texts: readonly string[]): [string, string] | undefined {
  const seen = new Map<string, string>()
  for (const text of texts) {
    const earlier = seen.get(asRead(text))
    if (earlier !== undefined) return [earlier, text]
    seen.set(asRead(text), text)
  }
}

/** A reader could not choose between equal options. */
const distinct: Form = (value) => {
  const questions = value as Required<QuestionRecord>[]
  const ids = equalIn(questions.map(({ id }) => id))
  if (ids) return `has two questions whose ids are equal for a reader, ${ids.map(shown).join(' and ')}`
  for (const { id, type, options } of questions) {
    const equal = chosen(type) && equalIn(options)
    if (equal) {
      return `has two options that are equal for a reader, ${equal.map(shown).join(' and ')}, in the question ${shown(id)}`
    }
  }
}

const question = z
  .strictObject({
    id: idSchema,
    type: z.enum(types),
    text: boundedText,
    options: textList.default([]),
    solution: textList.default([]),
  })
  .transform(({ solution, ...rest }) => ({
    ...rest,
    solution: chosen(rest.type) ? solutionAmong(rest.options, solution) : solution,
  }))
  .refine(({ solution }) => !solution.includes(undefined), {
    error: 'Each solution of a single or multiple question is one of its options.',
  })
  .refine(({ type, solution }) => type !== 'single' || solution.length === 1, {
    error: 'A single question has exactly one solution.',
  })

const schema = z
  .array(question)
  .max(1000)
  .refine((questions) => new Set(questions.map(({ id }) => id)).size === questions.length, {
    error: 'The ids of the questions of a quiz differ.',
  })
  .transform((questions) => questions.map((question, i) => ({ ...question, position: i + 1 })))

export const questions = (about: string): Field<QuestionRecord[], Required<QuestionRecord>[]> => ({
  type: 'questions',
  form: (value) => plain(value) ?? distinct(value),
  schema: schema as z.ZodType<unknown, QuestionRecord[]>,
  output: z.array(
    z.object({
      id: z.string(),
      type: z.enum(types),
      text: z.string(),
      options: z.array(z.string()),
      solution: z.array(z.string()),
    }),
  ),
  allowed: `a list of questions { id, type: ${types.join('|')}, text, options?: [text], solution?: [text] }`,
  about,
  column: '',
  initial: `'[]'`,
  children: {
    table: 'Question',
    parent: 'quizId',
    key: ['id'],
    rest: ['position', 'type', 'text', 'options', 'solution'],
    shared: [],
    position: 'position',
    read: `json_build_object('id', child.id, 'type', child.type, 'text', child.text,
      'options', coalesce(child.options, '{}'), 'solution', coalesce(child.solution, '{}'))`,
  },
})

/** SQL of the first answered question that a record omits or gives another type. */
export const ANSWERED = `(SELECT stored.id FROM "Question" stored
  WHERE stored."quizId" = row.id AND row.questions IS NOT NULL
    AND EXISTS (SELECT FROM "Answer" WHERE "Answer"."quizId" = stored."quizId" AND "Answer"."questionId" = stored.id)
    AND NOT EXISTS (SELECT FROM json_populate_recordset(NULL::"Question", row.questions) given
      WHERE given.id = stored.id AND given.type = stored.type)
  ORDER BY stored.id LIMIT 1)`
