import fc from 'fast-check'
import { expect, it } from 'vitest'
import { answerIn } from '../../clients/sdk/answer.ts'
import { times } from '../support/rounds.ts'

const issuer = 'https://auth.example.org/v1/oauth'
const NAMES = ['state', 'iss', 'code', 'error', 'error_description', 'error_uri', 'page', 'q', '', '%zz', 'st%61te']
const VALUES = ['', 'BY', 'a%20b', 'a+b', '50%', encodeURIComponent('https://accounts.example.com'), '=', 'x=y']

/** A page's own parameters as written; never an answer, as `iss` is another's. */
const own = fc.array(
  fc.oneof(
    fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES)).map(([name, value]) => `${name}=${value}`),
    fc.constantFrom(...NAMES),
  ),
  { maxLength: 6 },
)
const hash = fc.constantFrom('', '#', '#/route?state=x&code=y')
const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
const answer = fc.oneof(
  fc.record({ state: text, iss: fc.constant(issuer), code: text }),
  fc.record({ state: text, iss: fc.constant(issuer), error: text, error_description: text }),
)
const addressOf = (parts: string[], after: string) =>
  `https://app.example/cb${parts.length > 0 ? `?${parts.join('&')}` : ''}${after}`

it("finds no answer in a page's own parameters", () => {
  const holds = (parts: string[], after: string) => {
    expect(answerIn(addressOf(parts, after), issuer)).toBeUndefined()
  }
  fc.assert(fc.property(own, hash, holds), { numRuns: times(5_000, 500) })
})

it('finds the answer after them, and leaves them as they are written', () => {
  const holds = (parts: string[], fields: Record<string, string>, after: string) => {
    const sent = new URLSearchParams(fields)
    const found = answerIn(addressOf([...parts, sent.toString()], after), issuer)
    expect(found?.without).toBe(addressOf(parts, after))
    expect([found!.state, Object.fromEntries(found!.parameters)]).toEqual([fields.state, Object.fromEntries(sent)])
  }
  // A description of the page's own is not that of the answer.
  const unlike = (part: string) => !part.startsWith('error_')
  const given = own.map((parts) => parts.filter(unlike))
  fc.assert(fc.property(given, answer, hash, holds), { numRuns: times(5_000, 500) })
})
