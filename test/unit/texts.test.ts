import { domainToASCII } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { comparableEmail, listSpellings } from '../../routers/kernel/email-address.ts'
import { asRead, isSameText } from '../../routers/kernel/equal-texts.ts'
import { fullName, labelItems } from '../../routers/kernel/labels.ts'
import { lineFault, strayIn, textFault } from '../../routers/kernel/text-input.ts'
import { grade } from '../../routers/quizzes/grade.ts'
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

const letter = fc.constantFrom('a', 'B', 'ü', 'é', 'ộ', 'Å', 'が', '한', 'ß', 'İ', '7', '😀', 'ў')
const readWord = fc.array(letter, { minLength: 1, maxLength: 6 }).map((letters) => letters.join(''))
const readWords = fc.array(readWord, { minLength: 1, maxLength: 4 })
const space = fc
  .array(fc.constantFrom(' ', '\t', '\n', '\u00a0', '\u2003', '\u202f', '\u3000', '\u2028'), {
    minLength: 1,
    maxLength: 3,
  })
  .map((spaces) => spaces.join(''))

/** A text, and another writing of it: each letter composed or not, other white space between, before and behind its words. */
const twoWritings = fc
  .record({
    readWords,
    spaces: fc.array(space, { minLength: 5, maxLength: 5 }),
    forms: fc.array(fc.boolean(), { minLength: 24 }),
  })
  .map(({ readWords, spaces, forms }) => {
    let at = 0
    const written = readWords.map((one) =>
      [...one].map((letter) => letter.normalize(forms[at++ % forms.length] ? 'NFC' : 'NFD')).join(''),
    )
    return [readWords.join(' '), spaces[4] + written.map((one, i) => one + spaces[i]).join('')] as const
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
      fc.property(readWords, readWords, (a, b) => {
        expect(isSameText(a.join(' '), b.join(' '))).toBe(a.join(' ').normalize() === b.join(' ').normalize())
      }),
      { numRuns },
    )
  })
})

it('a text of very many marks is compared as it is, since composing it takes quadratic time', () => {
  const text = `u${'\u0308\u0323'.repeat(100)}`
  expect(asRead(` ${text}`)).toBe(text)
  expect(text.normalize()).not.toBe(text)
})

const person = (id: string, name: string, ...hints: (string | null)[]) => ({ id, name, hints })
const labels = (...people: ReturnType<typeof person>[]) => [...labelItems(people, ({ hints }) => hints).values()]

it.each([
  ['Anna', 'Ahlers', 'Anna Ahlers'],
  ['Anna', '', 'Anna'],
  ['', '', 'p1'],
  [' ', '\u00a0', 'p1'],
  ['\u200b', '\u3164', 'p1'],
  ['\u200d', '', 'p1'],
])('the label of a person of %j and %j is %j', (firstName, lastName, label) => {
  expect(fullName({ id: 'p1', firstName, lastName })).toBe(label)
})

describe('the labels of a list', () => {
  it('are the names where these differ', () => {
    expect(labels(person('1', 'Anna', '2001'), person('2', 'Ben', '2001'))).toEqual(['Anna', 'Ben'])
  })

  it('have the first hint that distinguishes equal names', () => {
    expect(labels(person('1', 'Anna', '1980', 'Club'), person('2', 'Anna ', '2011', 'Club'))).toEqual([
      'Anna (1980)',
      'Anna (2011)',
    ])
    expect(labels(person('1', 'Anna', null, 'A'), person('2', 'Anna', null, 'B'))).toEqual(['Anna (A)', 'Anna (B)'])
    expect(labels(person('1', 'Anna', '1980'), person('2', 'Anna', null))).toEqual(['Anna (1980)', 'Anna'])
    expect(labels(person('1', 'Zoë', '1980'), person('2', 'Zoe\u0308', '1980'))).toEqual(['Zoë (1)', 'Zoe\u0308 (2)'])
  })

  it('name the same organisation in the same way', () => {
    const clubs = [
      { id: 'a', name: 'Club' },
      { id: 'a', name: 'Club' },
      { id: 'b', name: 'Club' },
    ]
    expect([...labelItems(clubs)]).toEqual([
      ['a', 'Club (a)'],
      ['b', 'Club (b)'],
    ])
  })

  it('are never empty and never equal for a reader', () => {
    const text = fc.constantFrom(
      '',
      ' ',
      '\u200b',
      'Anna',
      'Anna ',
      'Zoë',
      'Zoe\u0308',
      '1',
      'Anna (1)',
      'Anna (2001)',
      '1 (1)',
    )
    const hint = fc.constantFrom(null, '', '1', '2001', 'Club')
    const people = fc.uniqueArray(
      fc.record({
        id: fc.constantFrom('1', '2', '3', '2001', 'Anna', 'Club'),
        name: text,
        hints: fc.array(hint, { maxLength: 2 }),
      }),
      { selector: ({ id }) => id },
    )
    fc.assert(
      fc.property(people, (people) => {
        const given = [...labelItems(people, ({ hints }) => hints).values()].map(asRead)
        expect(given).not.toContain('')
        expect(new Set(given).size).toBe(people.length)
      }),
      { numRuns },
    )
  })
})

const mailWord = (letters: readonly string[]) =>
  fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 8 }).map((letters) => letters.join(''))
const local = mailWord(['a', 'Z', 'ü', 'Å', 'é', '7', '.', '+', '例', 'д'])
const label = mailWord(['a', 'm', 'ü', 'é', 'ß', '7', '例', 'д', 'ø'])
const address = fc.tuple(local, label, fc.constantFrom('example', 'org', 'テスト'))

describe('an e-mail address', () => {
  it.each([
    ['jo@müller.example', 'jo@xn--mller-kva.example'],
    ['jo@xn--mller-kva.example', 'jo@xn--mller-kva.example'],
    ['bo@XN--MLLER-KVA.Example', 'bo@xn--mller-kva.example'],
    ['INFO@MÜLLER.EXAMPLE', 'info@xn--mller-kva.example'],
    ['jo@mu\u0308ller.example', 'jo@xn--mller-kva.example'],
    ['JÖRG@example.org', 'jörg@example.org'],
    ['jo\u0308rg@example.org', 'jörg@example.org'],
    [' Jo@Example.ORG\n', 'jo@example.org'],
    ['\u200bjo@example.org\u200b', 'jo@example.org'],
    ['jo@ｅｘａｍｐｌｅ.org', 'jo@example.org'],
    ['jo@例え。テスト', 'jo@xn--r8jz45g.xn--zckzah'],
    ['jo@faß.example', 'jo@xn--fa-hia.example'],
    ['jo@نامه\u200cای.example', `jo@${domainToASCII('نامه\u200cای.example')}`],
  ])('%j is compared as %j', (typed, comparable) => {
    expect(comparableEmail(typed)).toBe(comparable)
  })

  it.each(['', 'jo', 'jo@', '@example.org', 'jo@example.org/x', 'jo@exa%6dple.org', 'jo@a@b', 'jo@a..b', 'jo@a:25'])(
    '%j is none',
    (typed) => expect(comparableEmail(typed)).toBe(null),
  )

  it('of the Kelvin sign is not that of the letter k', () => {
    expect(comparableEmail('mia\u212a@example.org')).toBe('mia\u212a@example.org')
  })

  it('has one comparable form in all spellings, which a browser posts too', () => {
    fc.assert(
      fc.property(address, fc.boolean(), fc.constantFrom('NFC', 'NFD'), ([name, label, top], isUpper, form) => {
        const domain = `${label}.${top}`
        const comparable = comparableEmail(`${name}@${domain}`)!
        expect(comparable).toMatch(/@[a-z0-9.-]+$/)
        const cased = (text: string) => (isUpper && !text.includes('ß') ? text.toUpperCase() : text)
        for (const spelling of [
          `${name.normalize(form)}@${domain.normalize(form)}`,
          `${cased(name)}@${cased(domain)}`,
          `${name}@${domainToASCII(domain)}`,
          comparable,
          ...listSpellings(comparable),
        ]) {
          expect(comparableEmail(spelling)).toBe(comparable)
        }
      }),
      { numRuns },
    )
  })
})
