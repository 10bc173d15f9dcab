import fc from 'fast-check'
import type { JWK } from 'jose'
import { decodeJwt, exportJWK, generateKeyPair } from 'jose'
import { beforeAll, expect, it } from 'vitest'
import { MAX_AUTH_BASE_URL } from '../../server/browser/addresses.ts'
import { cardCodes } from '../../server/oauth/keys/card-codes.ts'

let key: JWK
beforeAll(async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  key = { ...(await exportJWK(privateKey)), kid: 'AbCd_-09', alg: 'ES256' }
})
const cards = { signing: () => key, published: () => [], verify: () => Promise.reject(new Error('not asked')) }
const now = () => Date.parse('2026-12-01T10:00:00Z')

const FAMILY = '👩‍👩‍👧‍👦'
const hostile = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 300 }).map((text) => text.replace(/[\0\ud800-\udfff]/gu, '')),
  fc
    .array(fc.constantFrom('A', ' ', '"', '\\', 'é', FAMILY, `z${'\u0335'.repeat(60)}`, 'אבג', '\u202e', '한', '🇩🇪'), {
      maxLength: 120,
    })
    .map((parts) => parts.join('')),
)
const base = fc.integer({ min: 12, max: MAX_AUTH_BASE_URL }).map((length) => `https://${'a'.repeat(length - 11)}/v1`)
const readGraphemes = (text: string) => [...new Intl.Segmenter('und').segment(text)].map(({ segment }) => segment)

/** Whether this is the text, or begins with whole graphemes of it and ends with an ellipsis. */
function isCut(shown: unknown, text: string) {
  if (shown === text) return true
  const kept = readGraphemes(text)
  return kept.some((_, at) => `${kept.slice(0, at).join('')}…` === shown)
}

it('a code has at most 400 characters with its page, and cuts names between graphemes', async () => {
  const serial = fc.oneof(fc.constant('C-2026-0042'), hostile).filter((text) => text !== '')
  await fc.assert(
    fc.asyncProperty(base, serial, hostile, hostile, async (authBaseUrl, serial, name, club) => {
      const card = { serial, name, club, validUntil: '2026-12-31' }
      const { url, code } = await cardCodes({ keys: { cards }, authBaseUrl, now }).sign(card)
      expect(url.length).toBeLessThanOrEqual(400)
      expect(url).toBe(`${authBaseUrl}/card/${code}`)
      const { s, n, c, ...others } = decodeJwt(code)
      expect(others).toEqual({ t: 'valid', e: '2026-12-31', exp: now() / 1000 + 86_400 })
      expect([s === serial || /^~[\w-]{22}$/.test(String(s)), isCut(n, name), isCut(c, club)]).toEqual([
        true,
        true,
        true,
      ])
    }),
    { numRuns: 500 },
  )
})

it.each([
  [
    'https://auth.example.org/v1',
    'C-2026-0042',
    'Anna Ahlers',
    'Riverside',
    ['C-2026-0042', 'Anna Ahlers', 'Riverside'],
  ],
  // The shorter one keeps its whole name.
  ['https://auth.example.org/v1', 'C-1', 'A'.repeat(99), 'Riverside', ['C-1', `${'A'.repeat(70)}…`, 'Riverside']],
  ['https://auth.example.org/v1', 'x'.repeat(41), '', FAMILY, [expect.stringMatching(/^~[\w-]{22}$/), '', FAMILY]],
  ['https://auth.example.org/v1', '~short', 'A', 'B', [expect.stringMatching(/^~[\w-]{22}$/), 'A', 'B']],
  // A grapheme that does not fit is left out whole.
  [`https://${'a'.repeat(89)}/v1`, 'C-2026-0042', FAMILY, 'RC', ['C-2026-0042', '…', 'RC']],
])('at %s, the serial %s with the names %s and %s is %j', async (authBaseUrl, serial, name, club, claims) => {
  const card = { serial, name, club, validUntil: '2026-12-31' }
  const { s, n, c } = decodeJwt((await cardCodes({ keys: { cards }, authBaseUrl, now }).sign(card)).code)
  expect([s, n, c]).toEqual(claims)
})

it('a code expires with the last day of the card', async () => {
  const card = { serial: 'C', name: 'A', club: 'B', validUntil: '2026-12-01' }
  const { code, validUntil } = await cardCodes({ keys: { cards }, authBaseUrl: 'http://auth.test/v1', now }).sign(card)
  expect([validUntil, decodeJwt(code).exp]).toEqual(Array(2).fill(Date.parse('2026-12-02') / 1000))
})
