import { describe, expect, it } from 'vitest'
import { errors } from '../../routers/kernel/errors.ts'
import type { Answers, Question } from '../../routers/quizzes/grade.ts'
import { grade, verdict } from '../../routers/quizzes/grade.ts'
import { hashAnswers, replay } from '../../routers/quizzes/idempotency.ts'

const single = (id: string, right = 'yes'): Question => ({ id, type: 'single', solution: [right] })
const multiple = (id: string, ...solution: string[]): Question => ({ id, type: 'multiple', solution })
const open = (id: string, type: 'text' | 'image' | 'file' = 'text'): Question => ({ id, type, solution: [] })

const three = [single('a'), single('b'), single('c')]
const set = [multiple('m', 'A', 'C')]
/** Own properties with any name, as in a parsed body. */
const parsed = (json: string): Answers => JSON.parse(json)

type Row = [
  says: string,
  questions: Question[],
  threshold: number,
  answers: Answers,
  score: number,
  graded: number,
  status: 'passed' | 'failed' | 'pending_review',
]

describe('grade', () => {
  it.each<Row>([
    ['returns 100 when all are correct', three, 60, { a: 'yes', b: 'yes', c: 'yes' }, 100, 3, 'passed'],
    ['returns 0 when all are wrong', three, 60, { a: 'no', b: 'no', c: 'no' }, 0, 3, 'failed'],
    ['rounds a third to two decimals', three, 60, { a: 'yes', b: 'no', c: 'no' }, 33.33, 3, 'failed'],
    ['rounds two thirds to two decimals', three, 60, { a: 'yes', b: 'yes', c: 'no' }, 66.67, 3, 'passed'],
    ['counts a missing answer as wrong', three, 60, { a: 'yes' }, 33.33, 3, 'failed'],
    ['passes an empty submission at the threshold 0', three, 0, {}, 0, 3, 'passed'],
    ['passes when the threshold is reached', [single('a'), single('b')], 50, { a: 'yes' }, 50, 2, 'passed'],
    ['fails just below the threshold', [single('a'), single('b')], 50.01, { a: 'yes' }, 50, 2, 'failed'],
    ['compares the score that is shown, rounded up', three, 66.67, { a: 'yes', b: 'yes' }, 66.67, 3, 'passed'],
    ['compares the score that is shown, rounded down', three, 33.333, { a: 'yes' }, 33.33, 3, 'failed'],
    ['accepts a set in any order', set, 60, { m: ['C', 'A'] }, 100, 1, 'passed'],
    ['counts a repeated text once', set, 60, { m: ['A', 'C', 'A'] }, 100, 1, 'passed'],
    ['returns 0 for part of a set', set, 60, { m: ['A'] }, 0, 1, 'failed'],
    ['returns 0 for one text too many', set, 60, { m: ['A', 'B', 'C'] }, 0, 1, 'failed'],
    ['returns 0 for an empty set', set, 60, { m: [] }, 0, 1, 'failed'],
    ['accepts an empty set when no text is correct', [multiple('m')], 60, { m: [] }, 100, 1, 'passed'],
    ['counts a missing set as wrong when no text is correct', [multiple('m')], 60, {}, 0, 1, 'failed'],
    ['counts a text that is not offered as wrong', [single('a')], 60, { a: 'perhaps' }, 0, 1, 'failed'],
    ['distinguishes case', [single('a', 'No')], 60, { a: 'no' }, 0, 1, 'failed'],
    ['accepts what a select sends of a text with a space', [single('a', 'Red ')], 60, { a: 'Red' }, 100, 1, 'passed'],
    ['accepts other white space', [single('a', 'New York')], 60, { a: ' New\u00a0\n York' }, 100, 1, 'passed'],
    ['accepts decomposed letters', [single('a', 'Zürich')], 60, { a: 'Zu\u0308rich' }, 100, 1, 'passed'],
    ['accepts composed letters', [single('a', 'Zu\u0308rich')], 60, { a: 'Zürich' }, 100, 1, 'passed'],
    ['accepts a set as it is read', set, 60, { m: ['C ', ' A', 'A'] }, 100, 1, 'passed'],
    ['counts stored texts that are equal once', [multiple('m', 'A', 'A ')], 60, { m: ['A'] }, 100, 1, 'passed'],
    ['leaves open questions to review', [single('a'), open('t')], 50, { a: 'yes', t: '.' }, 100, 1, 'pending_review'],
    ['leaves unanswered ones to review', [single('a'), open('t')], 50, { a: 'no' }, 0, 1, 'pending_review'],
    ['returns 0 of 0 for open questions', [open('t'), open('i', 'image')], 0, { t: '.' }, 0, 0, 'pending_review'],
    ['grades a question named __proto__', [single('__proto__')], 60, parsed('{"__proto__":"yes"}'), 100, 1, 'passed'],
    ['ignores inherited properties', [single('constructor'), single('toString')], 60, {}, 0, 2, 'failed'],
    ['grades a question named constructor', [single('constructor')], 60, { constructor: 'yes' }, 100, 1, 'passed'],
  ])('%s', (_says, questions, threshold, answers, score, gradedQuestions, reviewStatus) => {
    const { outcomes, ...grades } = grade({ threshold, questions }, answers)
    expect(grades).toEqual({ score, gradedQuestions, reviewStatus, passed: reviewStatus === 'passed' })
    expect(outcomes.map(({ questionId }) => questionId)).toEqual(questions.map(({ id }) => id))
  })

  it('returns answer and outcome of every question', () => {
    const questions = [single('a'), single('b'), multiple('m', 'A'), open('t'), open('f', 'file')]
    const { outcomes } = grade({ threshold: 60, questions }, { t: 'text', m: ['A'], a: 'no' })
    expect(outcomes).toEqual([
      { questionId: 'a', answer: 'no', correct: false },
      { questionId: 'b', answer: undefined, correct: false },
      { questionId: 'm', answer: ['A'], correct: true },
      { questionId: 't', answer: 'text', correct: null },
      { questionId: 'f', answer: undefined, correct: null },
    ])
  })

  it('accepts any string for an image or a file', () => {
    const questions = [open('i', 'image'), open('f', 'file')]
    const { outcomes } = grade({ threshold: 60, questions }, { i: '', f: 'not an address\0' })
    expect(outcomes.map(({ answer }) => answer)).toEqual(['', 'not an address\0'])
  })

  it('reaches the same threshold for every ratio with one decimal', () => {
    const questions = Array.from({ length: 1000 }, (_, n) => single(`q${n}`))
    const answers: Record<string, string> = {}
    for (let right = 0; right <= 1000; right++) {
      if (right > 0) answers[`q${right - 1}`] = 'yes'
      const threshold = Number(`${Math.floor(right / 10)}.${right % 10}`)
      if (!grade({ threshold, questions }, answers).passed) throw new Error(`${right} of 1000 misses ${threshold}`)
    }
  })
})

it.each([
  [0, true],
  [0.01, false],
])(
  'a result whose questions were all deleted has the score 0, and with the threshold %d passed is %s',
  (threshold, passed) => {
    expect(verdict(0, 0, threshold)).toEqual({ score: 0, passed })
  },
)

describe('answers that do not fit the quiz', () => {
  it.each([
    ['of another quiz', { z: 'yes' }],
    ['__proto__', parsed('{"__proto__":"yes"}')],
    ['constructor', { constructor: 'yes' }],
    ['beside correct ones', { a: 'yes', z: null }],
  ])('are refused for an unknown question: %s', (_, answers) => {
    expect(() => grade({ threshold: 60, questions: three }, answers)).toThrow(errors.questionUnknown().message)
  })

  it.each(['single', 'text', 'image', 'file'] as const)('are refused for %s with anything but a string', (type) => {
    const questions = [{ id: 'q', type, solution: ['yes'] }]
    for (const answer of [null, 0, true, [], ['yes'], {}, { yes: true }]) {
      expect(() => grade({ threshold: 60, questions }, { q: answer })).toThrow(errors.answerMisfit().message)
    }
  })

  it('are refused for multiple with anything but an array of strings', () => {
    for (const answer of [null, 0, 'A', {}, [1], ['A', null], [['A']], { length: 0 }]) {
      expect(() => grade({ threshold: 60, questions: set }, { m: answer })).toThrow(errors.answerMisfit().message)
    }
  })
})

describe('1 MiB of answers', () => {
  it('is refused before a text is compared', () => {
    const compared = {
      id: 'q',
      type: 'single' as const,
      get solution(): string[] {
        throw new Error('compared')
      },
    }
    const submit = (answer: string) => grade({ threshold: 60, questions: [compared] }, { q: answer })
    expect(() => submit('x'.repeat(256 * 1024))).toThrow('compared')
    expect(() => submit('x'.repeat(256 * 1024 + 1))).toThrow(errors.answersTooLarge().message)
  })

  it('reads no answer before an unknown question is refused, and each question a few times', () => {
    const read = { answers: 0, ids: 0 }
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`q${n}`, 'x']))
    const answers = new Proxy(many, { get: () => read.answers++ })
    const questions = three.map((question) => ({
      ...question,
      get id() {
        read.ids++
        return question.id
      },
    }))
    expect(() => grade({ threshold: 60, questions }, answers)).toThrow(errors.questionUnknown().message)
    expect(read).toEqual({ answers: 0, ids: three.length })
  })

  it('reads each text three times at most, and each solution once, whatever the number of texts', () => {
    for (const texts of [Array.from({ length: 60_000 }, (_, n) => n.toString(36)), Array(250_000).fill('A')]) {
      const read = { texts: 0, solutions: 0 }
      const counted = <T extends object>(list: T, name: keyof typeof read) =>
        new Proxy(list, {
          get(of, key, receiver) {
            if (typeof key === 'string' && /^\d+$/.test(key)) read[name]++
            return Reflect.get(of, key, receiver)
          },
        })
      const questions = set.map((question) => ({ ...question, solution: counted(question.solution, 'solutions') }))
      grade({ threshold: 60, questions }, { m: counted(texts, 'texts') })
      expect(read.texts).toBeLessThanOrEqual(3 * texts.length)
      expect(read.solutions).toBe(set.flatMap(({ solution }) => solution).length)
    }
  })

  it('is not hashed when the number of answers differs from that of the stored hash', () => {
    const answers = { q1: 'yes', q2: Object.defineProperty([], 'toJSON', { get: () => expect.fail('It was hashed.') }) }
    expect(() => replay({ bodyHash: hashAnswers({ q1: 'yes' }), answer: '{}' }, answers)).toThrow(
      errors.idempotencyMismatch().message,
    )
  })
})

describe('hashAnswers', () => {
  it('ignores the order of keys', () => {
    expect(hashAnswers({ a: 'x', b: ['y', 'z'] })).toBe(hashAnswers({ b: ['y', 'z'], a: 'x' }))
  })

  it('differs for different bodies', () => {
    const bodies = [
      '{}',
      '{"a":"x"}',
      '{"a":"y"}',
      '{"b":"x"}',
      '{"a":["x"]}',
      '{"a":["x","y"]}',
      '{"a":["y","x"]}',
      '{"a":[]}',
    ]
    const strange = [
      '{"__proto__":"x"}',
      '{"a":"x","__proto__":"x"}',
      '{"a":"\\ud800"}',
      '{"a":"\ufffd"}',
      '{"a,x":""}',
    ]
    const hashes = [...bodies, ...strange].map((json) => hashAnswers(parsed(json)))
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})

it('replay refuses a body nested 500,000 levels deep', () => {
  let deep: unknown = 'yes'
  for (let depth = 0; depth < 500_000; depth++) deep = [deep]
  const record = { bodyHash: hashAnswers({ q: 'yes' }), answer: '{}' }
  expect(() => replay(record, { q: deep })).toThrow(errors.idempotencyMismatch().message)
})
