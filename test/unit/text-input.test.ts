import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineFault, strayIn, textFault } from '../../routers/kernel/text-input.ts'
import { times } from '../support/rounds.ts'

const numRuns = times(20_000, 500)
const MAX = 100

const WALES = '🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}'
const latin = fc.constantFrom('a', 'ü', 'u\u0308', '7', 'ß')
const persian = fc.constantFrom('م', 'ی', 'خ', 'ه', '۲')
const indic = fc.constantFrom('क', 'क्', 'ന്', 'র', 'ශ්')
const emoji = fc.constantFrom('👨', '👩', '🏳\ufe0f', '❤\ufe0f', '👧🏽', '🌈', '🚒', '♀\ufe0f')
const word = (letter: fc.Arbitrary<string>) => fc.array(letter, { minLength: 2, maxLength: 5 })
const words = fc.oneof(word(latin), word(persian), word(indic), word(emoji))
const joiner = fc.constantFrom('\u200c', '\u200d')
const joining = fc.constantFrom('\u200c', '\u200d', '\ufe0f', '\ufe0e', '\u{e0061}', '\u{e007f}', '\u{e0100}', '\u180b')

describe('a name', () => {
  it.each([
    'Familie 👨\u200d👩\u200d👧',
    '👨\u200d👩\u200d👧',
    'می\u200cخواهم',
    'باشگاه ۲۰\u200cساله',
    '🏳\ufe0f\u200d🌈 Riders',
    `Rowing ${WALES}`,
    'Ich ❤\ufe0f Rudern',
    'Herz ❤\ufe0f',
    '👩🏽\u200d🚒',
    'No. 1\ufe0f\u20e3',
    'Beat ♫\ufe0f',
    'ශ\u0dca\u200dරී',
    'അവന\u0d4d\u200d വന്നു',
    'അനില\u0d4d\u200d',
    '葛\u{e0100}城市',
    '葛\u{e0100}',
    'ᠮᠣᠩᠭᠣᠯ\u180b',
  ])('may be %j', (name) => {
    expect([lineFault(name, MAX), textFault(name, MAX), strayIn(name)]).toEqual([undefined, undefined, undefined])
  })

  it.each([
    ['\u200d', 'stray', 'U+200D'],
    ['Acme\u200d', 'stray', 'U+200D'],
    ['\u200cAcme', 'stray', 'U+200C'],
    ['A \u200d B', 'stray', 'U+200D'],
    ['A\u200d\u200dB', 'stray', 'U+200D'],
    ['👨\u200d', 'stray', 'U+200D'],
    ['می\u200c', 'stray', 'U+200C'],
    ['\ufe0f', 'stray', 'U+FE0F'],
    ['Acme\ufe0f', 'stray', 'U+FE0F'],
    [' \ufe0fAcme', 'stray', 'U+FE0F'],
    ['❤\ufe0f\ufe0f', 'stray', 'U+FE0F'],
    ['Acme\u{e0061}\u{e007f}', 'stray', 'U+E0061'],
    ['A\u{e0061}B', 'stray', 'U+E0061'],
    ['🏴\u{e0067}\u{e0062}', 'stray', 'U+E0067'],
    ['Ac\u200bme', 'unseen', 'U+200B'],
    ['Ac\u00adme', 'unseen', 'U+00AD'],
    ['gnp\u202e', 'unseen', 'U+202E'],
    ['\u3164', 'unseen', 'U+3164'],
    ['\u2800\u2800', 'unseen', 'U+2800'],
    ['\u0301', 'unseen', 'U+0301'],
    ['a\u001b[2K', 'control', 'U+001B'],
    ['a\nb', 'lines', ''],
    ['', 'length', ''],
    ['a'.repeat(MAX + 1), 'length', ''],
  ])('may not be %j: %s, %s', (name, reason, character) => {
    expect(lineFault(name, MAX)).toEqual({ reason, character })
  })

  it('may have a joiner between any two letters of a word, or emoji, but not at an end of a text', () => {
    fc.assert(
      fc.property(words, joiner, fc.nat(), (letters, joiner, seed) => {
        const at = 1 + (seed % (letters.length - 1))
        const joined = [...letters.slice(0, at), joiner, ...letters.slice(at)].join('')
        const plain = letters.join('')
        expect(lineFault(joined, MAX)).toBe(undefined)
        expect(lineFault(`Team ${joined}, ${joined}`, MAX)).toBe(undefined)
        for (const wrong of [
          `${joiner}${plain}`,
          `x ${joiner}`,
          `${joiner} x`,
          joiner,
          `${plain}, ${joiner}${plain}`,
        ]) {
          expect(lineFault(wrong, MAX)?.reason).toBe('stray')
        }
      }),
      { numRuns },
    )
  })

  it('is never taken with such a character beside white space, at its beginning, or twice in a row', () => {
    fc.assert(
      fc.property(words, joining, (letters, character) => {
        const plain = letters.join('')
        for (const wrong of [character + plain, `${plain} ${character}`, `a${character}${character}b`]) {
          expect(lineFault(wrong, MAX)?.reason).toBe('stray')
        }
      }),
      { numRuns },
    )
  })
})
