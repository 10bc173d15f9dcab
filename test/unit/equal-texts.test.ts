import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asRead, isSameText } from '../../routers/kernel/equal-texts.ts'
import { grade } from '../../routers/quizzes/grade.ts'
import { times } from '../support/rounds.ts'

const numRuns = times(20_000, 500)

const letter = fc.constantFrom('a', 'B', 'ü', 'é', 'ộ', 'Å', 'が', '한', 'ß', 'İ', '7', '😀', 'ў')
const word = fc.array(letter, { minLength: 1, maxLength: 6 }).map((letters) => letters.join(''))
const words = fc.array(word, { minLength: 1, maxLength: 4 })
const space = fc
  .array(fc.constantFrom(' ', '\t', '\n', '\u00a0', '\u2003', '\u202f', '\u3000', '\u2028'), {
    minLength: 1,
    maxLength: 3,
  })
  .map((spaces) => spaces.join(''))

/** A text, and another writing of it: each letter composed or not, other white space between, before and behind its words. */
const twoWritings = fc
  .record({
    words,
    spaces: fc.array(space, { minLength: 5, maxLength: 5 }),
    forms: fc.array(fc.boolean(), { minLength: 24 }),
  })
  .map(({ words, spaces, forms }) => {
    let at = 0
    const written = words.map((one) =>
      [...one].map((letter) => letter.normalize(forms[at++ % forms.length] ? 'NFC' : 'NFD')).join(''),
    )
    return [words.join(' '), spaces[4] + written.map((one, i) => one + spaces[i]).join('')] as const
  })

describe('two texts', () => {
  it.each([
    ['Red', 'Red '],
    ['Zürich', 'Zu\u0308rich'],
    ['New York', ' New\u00a0 York\n'],
    ['Schiff\u00adfahrt', 'Schifffahrt'],
    ['Yes\u200b', 'Yes'],
    ['', ' \t'],
  ])('%j and %j are equal for a reader', (a, b) => {
    expect(isSameText(a, b)).toBe(true)
  })

  it.each([
    ['No', 'no'],
    ['1', '１'],
    ['ﬁ', 'fi'],
    ['New York', 'NewYork'],
    ['خانه\u200cها', 'خانهها'],
    ['👩\u200d🚒', '👩🚒'],
  ])('%j and %j are not', (a, b) => {
    expect(isSameText(a, b)).toBe(false)
  })

  it('are equal in every writing of letters and white space, and as an answer', () => {
    fc.assert(
      fc.property(twoWritings, ([a, b]) => {
        expect(isSameText(a, b)).toBe(true)
        expect(asRead(asRead(b))).toBe(asRead(b))
        for (const [solution, answer] of [
          [a, b],
          [b, a],
        ] as const) {
          const questions = [
            { id: 's', type: 'single' as const, solution: [solution] },
            { id: 'm', type: 'multiple' as const, solution: [solution, 'other'] },
          ]
          const { score } = grade({ threshold: 50, questions }, { s: answer, m: ['other', answer, solution] })
          expect(score).toBe(100)
        }
      }),
      { numRuns },
    )
  })

  it('differ where a letter, its case or a word differs', () => {
    fc.assert(
      fc.property(words, words, (a, b) => {
        expect(isSameText(a.join(' '), b.join(' '))).toBe(a.join(' ').normalize() === b.join(' ').normalize())
      }),
      { numRuns },
    )
  })
})

describe('a text of very many marks', () => {
  it('is compared as it is, since composing it takes quadratic time', () => {
    const text = `u${'\u0308\u0323'.repeat(100)}`
    expect(asRead(` ${text}`)).toBe(text)
    expect(text.normalize()).not.toBe(text)
  })
})
