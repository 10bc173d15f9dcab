import { domainToASCII } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { comparableEmail, spellingsOf } from '../../routers/kernel/email-address.ts'
import { times } from '../support/rounds.ts'

const numRuns = times(20_000, 500)

const word = (letters: readonly string[]) =>
  fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 8 }).map((letters) => letters.join(''))
const local = word(['a', 'Z', 'ü', 'Å', 'é', '7', '.', '+', '例', 'д'])
const label = word(['a', 'm', 'ü', 'é', 'ß', '7', '例', 'д', 'ø'])
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
          ...spellingsOf(comparable),
        ]) {
          expect(comparableEmail(spelling)).toBe(comparable)
        }
      }),
      { numRuns },
    )
  })
})
