import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { times } from '../support/rounds.ts'
import { expectBytes, expectSame, startStorage } from './exact.ts'

/** Mostly empty, so that texts stay readable. */
const space = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...' \t\n\r'), maxLength: 3 }) },
)

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 25, size: 'max' })
const optional = (text: fc.Arbitrary<string>) => fc.oneof(fc.constant(''), text)
const joined = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.join(''))

const integer = fc.oneof(fc.constant('0'), joined(fc.constantFrom(...'123456789'), optional(digits)))
const exponent = joined(
  fc.constantFrom('e', 'E'),
  fc.constantFrom('', '+', '-'),
  digits.map((text) => text.slice(0, 4)),
)
const number = joined(
  optional(fc.constant('-')),
  integer,
  optional(joined(fc.constant('.'), digits)),
  optional(exponent),
)

/** Unescaped where JSON and UTF-8 allow it. */
const inString = (character: string) => JSON.stringify(character).slice(1, -1)
const ascii = fc.integer({ min: 0, max: 0x7f }).map((code) => inString(String.fromCharCode(code)))
const ofAnyPlane = fc
  .tuple(fc.nat(16), fc.nat(0xffff))
  .map(([plane, low]) => inString(String.fromCodePoint(plane * 0x10000 + low)))
const hexDigit = fc.constantFrom(...'0123456789abcdefABCDEF')
const escaped = fc.oneof(
  fc.constantFrom(...'"\\/bfnrt').map((letter) => `\\${letter}`),
  joined(fc.constant('\\u'), hexDigit, hexDigit, hexDigit, hexDigit),
  fc.constantFrom('\\u0000', '\\ud83d\\ude00', '\\uD800', '\\udfff\\ud800', '\\u0022', '\\u005C'),
)
const string = fc
  .string({ unit: fc.oneof(ascii, ofAnyPlane, escaped), maxLength: 20, size: 'max' })
  .map((text) => `"${text}"`)

/** A small set, so that duplicates occur. */
const key = fc.oneof(
  string,
  fc.constantFrom(
    ...['', 'a', 'b', '\\u0061', '1', '10', '__proto__', 'constructor', 'toJSON', 'value', 'updatedAt'].map(
      (name) => `"${name}"`,
    ),
  ),
)

const scalar = fc.oneof(
  { weight: 5, arbitrary: number },
  { weight: 5, arbitrary: string },
  { weight: 1, arbitrary: fc.constantFrom('null', 'true', 'false', '-0', '1e400', '1.0') },
)
const { json } = fc.letrec<{ json: string }>((tie) => {
  const inner = joined(space, tie('json'), space)
  const member = joined(space, key, space, fc.constant(':'), inner)
  const listOf = (item: fc.Arbitrary<string>) =>
    fc.oneof(
      { weight: 1, arbitrary: space },
      { weight: 9, arbitrary: fc.array(item, { minLength: 1, maxLength: 5 }).map(String) },
    )
  return {
    json: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      { weight: 2, arbitrary: scalar },
      { weight: 3, arbitrary: listOf(inner).map((items) => `[${items}]`) },
      { weight: 3, arbitrary: listOf(member).map((members) => `{${members}}`) },
    ),
  }
})

const wrapping = fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[0, ', ',""]'], ['{"b":1,"a":\n', ',"a":2}'])
const nested = fc
  .tuple(scalar, fc.array(wrapping, { minLength: 1, maxLength: 256, size: 'max' }))
  .map(([inner, wraps]) => wraps.reduce((text, [open, close]) => open + text + close, inner))

const text = fc.oneof({ weight: 9, arbitrary: json }, { weight: 1, arbitrary: nested })

let storage: Awaited<ReturnType<typeof startStorage>>
beforeAll(async () => {
  storage = await startStorage()
})
afterAll(() => storage.world.close())

/** Concurrent writers, each with a collection of its own. */
const WRITERS = 8

describe('any JSON text', () => {
  it('is returned byte for byte, and over tRPC as JSON.parse returns it', async () => {
    let count = 0
    const overwriteIn = (collection: string, scope: 'org' | 'user') =>
      fc.asyncProperty(text, space, space, async (text, before, after) => {
        count++
        const place = { collection, key: 'k', scope }
        const { entry, typed } = await storage.put(place, text, `{"value":${before}${text}${after}}`)
        expectBytes((await storage.rest('GET', `${collection}/k?scope=${scope}`)).bytes, entry)
        const { bytes } = await storage.query('list', { collection, scope })
        expectBytes(bytes, `{"result":{"data":{"items":[${typed}],"total":1}}}`)
        expectSame(JSON.parse(bytes.toString()).result.data.items[0].value, JSON.parse(text))
      })
    const numRuns = Math.ceil(times(1_000, 100) / WRITERS)
    const writers = Array.from({ length: WRITERS }, (_, i) => overwriteIn(`c${i}`, i % 2 ? 'user' : 'org'))
    await Promise.all(writers.map((property) => fc.assert(property, { numRuns })))
    expect(count).toBeGreaterThanOrEqual(times(1_000, 100))
  })
})
