import { describe, expect, it } from 'vitest'
import { errors } from '../../routers/errors.ts'
import type { Answers, Question } from '../../routers/quizzes/grade.ts'
import { grade } from '../../routers/quizzes/grade.ts'
import { hashOf, replay } from '../../routers/quizzes/idempotency.ts'

const single = (id: string, right = 'yes'): Question => ({ id, type: 'single', solution: [right] })
const multiple = (id: string, ...solution: string[]): Question => ({ id, type: 'multiple', solution })
const open = (id: string, type: 'text' | 'image' | 'file' = 'text'): Question => ({ id, type, solution: [] })

const three = [single('a'), single('b'), single('c')]
const set = [multiple('m', 'A', 'C')]
/** As a body is parsed: an own property, whatever its name. */
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

describe('grading', () => {
  it.each<Row>([
    ['gives 100 for all right', three, 60, { a: 'yes', b: 'yes', c: 'yes' }, 100, 3, 'passed'],
    ['gives 0 for all wrong', three, 60, { a: 'no', b: 'no', c: 'no' }, 0, 3, 'failed'],
    ['rounds a third to two decimals', three, 60, { a: 'yes', b: 'no', c: 'no' }, 33.33, 3, 'failed'],
    ['rounds two thirds to two decimals', three, 60, { a: 'yes', b: 'yes', c: 'no' }, 66.67, 3, 'passed'],
    ['counts a question left out as wrong', three, 60, { a: 'yes' }, 33.33, 3, 'failed'],
    ['grades no answers at all', three, 60, {}, 0, 3, 'failed'],
    ['passes no answers where the threshold is 0', three, 0, {}, 0, 3, 'passed'],
    ['passes where the threshold is reached', [single('a'), single('b')], 50, { a: 'yes' }, 50, 2, 'passed'],
    ['fails just below the threshold', [single('a'), single('b')], 50.01, { a: 'yes' }, 50, 2, 'failed'],
    ['compares the exact ratio, not the score rounded up', three, 66.67, { a: 'yes', b: 'yes' }, 66.67, 3, 'failed'],
    ['compares the exact ratio, not the score rounded down', three, 33.333, { a: 'yes' }, 33.33, 3, 'passed'],
    ['passes at 100 only with all right', three, 100, { a: 'yes', b: 'yes', c: 'yes' }, 100, 3, 'passed'],
    ['takes a set in any order', set, 60, { m: ['C', 'A'] }, 100, 1, 'passed'],
    ['takes a text chosen twice once', set, 60, { m: ['A', 'C', 'A'] }, 100, 1, 'passed'],
    ['gives nothing for a part of a set', set, 60, { m: ['A'] }, 0, 1, 'failed'],
    ['gives nothing for a part of a set, doubled', set, 60, { m: ['A', 'A'] }, 0, 1, 'failed'],
    ['gives nothing for one text too many', set, 60, { m: ['A', 'B', 'C'] }, 0, 1, 'failed'],
    ['gives nothing for no text', set, 60, { m: [] }, 0, 1, 'failed'],
    ['takes no text where none is right', [multiple('m')], 60, { m: [] }, 100, 1, 'passed'],
    ['counts a set left out as wrong where none is right', [multiple('m')], 60, {}, 0, 1, 'failed'],
    ['counts a text that is not offered as wrong', [single('a')], 60, { a: 'perhaps' }, 0, 1, 'failed'],
    ['counts a set with a text that is not offered as wrong', set, 60, { m: ['A', 'C', 'Z'] }, 0, 1, 'failed'],
    ['compares texts exactly', [single('a', 'Yes')], 60, { a: 'yes ' }, 0, 1, 'failed'],
    ['leaves open questions to a person', [single('a'), open('t')], 50, { a: 'yes', t: '.' }, 100, 1, 'pending_review'],
    ['does so when they are left out, too', [single('a'), open('t')], 50, { a: 'no' }, 0, 1, 'pending_review'],
    ['gives 0 of 0 where all are open', [open('t'), open('i', 'image')], 0, { t: '.' }, 0, 0, 'pending_review'],
    ['knows a question named __proto__', [single('__proto__')], 60, parsed('{"__proto__":"yes"}'), 100, 1, 'passed'],
    ['takes nothing from a prototype', [single('constructor'), single('toString')], 60, {}, 0, 2, 'failed'],
    ['knows a question named constructor', [single('constructor')], 60, { constructor: 'yes' }, 100, 1, 'passed'],
  ])('%s', (_says, questions, threshold, answers, score, gradedQuestions, reviewStatus) => {
    const { outcomes, ...grades } = grade({ threshold, questions }, answers)
    expect(grades).toEqual({ score, gradedQuestions, reviewStatus, passed: reviewStatus === 'passed' })
    expect(outcomes.map(({ questionId }) => questionId)).toEqual(questions.map(({ id }) => id))
  })

  it('says of every question what was answered, and whether it is right', () => {
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

  it('takes any string for an image or a file', () => {
    const questions = [open('i', 'image'), open('f', 'file')]
    const { outcomes } = grade({ threshold: 60, questions }, { i: '', f: 'not an address\0' })
    expect(outcomes.map(({ answer }) => answer)).toEqual(['', 'not an address\0'])
  })

  it('finds the same threshold reached for every ratio that a decimal can say', () => {
    const questions = Array.from({ length: 1000 }, (_, n) => single(`q${n}`))
    const answers: Record<string, string> = {}
    for (let right = 0; right <= 1000; right++) {
      if (right > 0) answers[`q${right - 1}`] = 'yes'
      const threshold = Number(`${Math.floor(right / 10)}.${right % 10}`)
      if (!grade({ threshold, questions }, answers).passed) throw new Error(`${right} of 1000 misses ${threshold}`)
    }
  })
})

describe('answers that do not fit the quiz', () => {
  it.each([
    ['of another quiz', { z: 'yes' }],
    ['to __proto__', parsed('{"__proto__":"yes"}')],
    ['to constructor', { constructor: 'yes' }],
    ['beside right ones', { a: 'yes', z: null }],
  ])('are refused when they name a question %s', (_, answers) => {
    expect(() => grade({ threshold: 60, questions: three }, answers)).toThrow(errors.questionUnknown().message)
  })

  it.each(['single', 'text', 'image', 'file'] as const)(
    'are refused when %s gets something else than a string',
    (type) => {
      const questions = [{ id: 'q', type, solution: ['yes'] }]
      for (const answer of [null, 0, true, [], ['yes'], {}, { yes: true }]) {
        expect(() => grade({ threshold: 60, questions }, { q: answer })).toThrow(errors.answerMisfit().message)
      }
    },
  )

  it('are refused when multiple gets something else than an array of strings', () => {
    for (const answer of [null, 0, 'A', {}, [1], ['A', null], [['A']], { length: 0 }]) {
      expect(() => grade({ threshold: 60, questions: set }, { m: answer })).toThrow(errors.answerMisfit().message)
    }
  })
})

describe('1 MiB of answers', () => {
  /** Milliseconds of CPU, as other processes do not count; of three runs, as other threads do. */
  const fastest = (work: () => void) =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const start = process.cpuUsage()
        work()
        const { user, system } = process.cpuUsage(start)
        return (user + system) / 1000
      }),
    )

  const refused = (work: () => void) => {
    try {
      work()
    } catch {
      return
    }
    throw new Error('This was not refused.')
  }

  it('is graded in less than 100 ms, however many questions it names', () => {
    const answers = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`q${n}`, 'x']))
    expect(fastest(() => refused(() => grade({ threshold: 60, questions: three }, answers)))).toBeLessThan(100)
  })

  it('is graded in less than 100 ms, however many texts it chooses', () => {
    for (const texts of [Array.from({ length: 250_000 }, (_, n) => n.toString(36)), Array(250_000).fill('A')]) {
      expect(fastest(() => grade({ threshold: 60, questions: set }, { m: texts }))).toBeLessThan(100)
    }
  })

  it('is compared with a remembered body in less than 100 ms', () => {
    const answers = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`q${n}`, 'x']))
    const kept = { bodyHash: hashOf({ q1: 'yes' }), answer: '{}' }
    expect(fastest(() => refused(() => replay(kept, answers)))).toBeLessThan(100)
  })
})

describe('the hash of a body', () => {
  it('does not depend on the order of its keys', () => {
    expect(hashOf({ a: 'x', b: ['y', 'z'] })).toBe(hashOf({ b: ['y', 'z'], a: 'x' }))
  })

  it('depends on all else', () => {
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
    const hashes = [...bodies, ...strange].map((json) => hashOf(parsed(json)))
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})

describe('a remembered body', () => {
  it('is another one than answers nested however deep', () => {
    let deep: unknown = 'yes'
    for (let depth = 0; depth < 500_000; depth++) deep = [deep]
    const kept = { bodyHash: hashOf({ q: 'yes' }), answer: '{}' }
    expect(() => replay(kept, { q: deep })).toThrow(errors.idempotencyMismatch().message)
  })
})
