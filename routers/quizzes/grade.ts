import { asRead } from '../kernel/equal-texts.ts'
import { errors } from '../kernel/errors.ts'

/** Bytes in UTF-8 of an attempt's answers to text questions, and of those to all others. */
const MAX_ANSWER_BYTES = 256 * 1024

export interface Question {
  id: string
  type: 'single' | 'multiple' | 'text' | 'image' | 'file'
  solution: readonly string[]
}

/** Question id to answer, as sent: the values are not checked yet. */
export type Answers = Readonly<Record<string, unknown>>

type Answer = string | readonly string[]

export interface Grading {
  /** Percent of the machine-gradable questions, two decimals. */
  score: number
  passed: boolean
  reviewStatus: 'passed' | 'failed' | 'pending_review'
  gradedQuestions: number
  /** One per question: `answer` is undefined if omitted, `correct` is null if a person has to grade it. */
  outcomes: { questionId: string; answer: Answer | undefined; correct: boolean | null }[]
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)

/** Whether any type of question could have this answer. */
export const isAnswer = (value: unknown): value is Answer => isText(value) || isTexts(value)

function answerTo({ id, type }: Question, answers: Answers): Answer | undefined {
  const answer = Object.hasOwn(answers, id) ? answers[id] : undefined
  if (answer === undefined) return undefined
  if (type === 'multiple' ? isTexts(answer) : isText(answer)) return answer as Answer
  throw errors.answerMisfit()
}

/** Throws 400 when the answers of an attempt, one per question, are more than one may store. */
function refuseLarge(questions: readonly Question[], given: readonly (Answer | undefined)[]): void {
  const bytes = { text: 0, other: 0 }
  for (const [i, { type }] of questions.entries()) {
    const answer = given[i] ?? []
    for (const text of isText(answer) ? [answer] : answer) {
      bytes[type === 'text' ? 'text' : 'other'] += Buffer.byteLength(text)
    }
  }
  if (Math.max(bytes.text, bytes.other) > MAX_ANSWER_BYTES) throw errors.answersTooLarge()
}

/** All or nothing: equal sets for `multiple`; a single text has to be among the solutions. Texts are compared as a reader does. */
function isCorrect({ type, solution }: Question, answer: Answer | undefined): boolean | null {
  if (type !== 'single' && type !== 'multiple') return null
  if (answer === undefined) return false
  const right = new Set(solution.map(asRead))
  if (isText(answer)) return right.has(asRead(answer))
  const chosen = new Set<string>()
  for (const text of new Set(answer)) {
    const read = asRead(text)
    if (!right.has(read)) return false
    chosen.add(read)
  }
  return chosen.size === right.size
}

/** The score in percent, with two decimals; `passed` compares this score, which is shown, with the threshold. */
export function verdict(correct: number, questions: number, threshold: number): { score: number; passed: boolean } {
  if (questions === 0) return { score: 0, passed: threshold <= 0 }
  const score = Math.round((10_000 * correct) / questions) / 100
  return { score, passed: score >= threshold }
}

/** Grades one attempt; throws 400 when its answers do not fit or are too large. Reads own keys only, as any text may be an id. */
export function grade(quiz: { threshold: number; questions: readonly Question[] }, answers: Answers): Grading {
  const ids = new Set(quiz.questions.map(({ id }) => id))
  if (!Object.keys(answers).every((id) => ids.has(id))) throw errors.questionUnknown()

  const given = quiz.questions.map((question) => answerTo(question, answers))
  // Before they are compared: 1 MB of texts takes 100 ms.
  refuseLarge(quiz.questions, given)
  const outcomes = quiz.questions.map((question, i) => {
    const answer = given[i]
    return { questionId: question.id, answer, correct: isCorrect(question, answer) }
  })
  const gradedQuestions = outcomes.filter(({ correct }) => correct !== null).length
  const correct = outcomes.filter((outcome) => outcome.correct).length
  const { score, passed: reached } = verdict(correct, gradedQuestions, quiz.threshold)
  const pending = gradedQuestions < quiz.questions.length
  const passed = !pending && reached
  return {
    score,
    passed,
    reviewStatus: pending ? 'pending_review' : passed ? 'passed' : 'failed',
    gradedQuestions,
    outcomes,
  }
}
