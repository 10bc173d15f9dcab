import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_NESTING, serialiseValue } from '../../routers/kernel/raw-json/text.ts'

const nested = (depth: number, wrap: (inner: unknown) => unknown) => {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = wrap(value)
  return value
}
const wraps: [string, (inner: unknown) => unknown][] = [
  ['arrays', (inner) => [inner]],
  ['objects', (inner) => ({ inner })],
  ['objects behind other members', (inner) => ({ a: 1, b: 2, inner })],
]
const tooDeep = 'value is nested too deeply.'
const notJson = 'value contains something that JSON cannot represent.'
function circle() {
  const own: Record<string, unknown> = {}
  own.self = [own]
  return own
}
const expectRefused = (value: unknown, message: string) =>
  expect(async () => serialiseValue(value)).rejects.toThrow(message)

describe('a parsed value', () => {
  it('is stored as JSON.stringify writes it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
        expect(await serialiseValue(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  it('keeps __proto__ and lone surrogates', async () => {
    expect(await serialiseValue(JSON.parse('{"__proto__":{"a":1},"s":"\\ud800"}'))).toBe(
      '{"__proto__":{"a":1},"s":"\\ud800"}',
    )
  })

  it.each([
    ['a member that is undefined', { note: undefined, kept: 1 }, '{"kept":1}'],
    ['members that are functions or symbols', { f: () => 1, s: Symbol('s') }, '{}'],
    ['an item that is undefined', [undefined, () => 1], '[null,null]'],
    ['a sparse array', new Array(2), '[null,null]'],
    ['numbers that are not finite', [Number.NaN, Infinity, -Infinity, -0], '[null,null,null,0]'],
    ['a Date', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ['an invalid Date', new Date(Number.NaN), 'null'],
    ['a Map and a Set', [new Map([[1, 2]]), new Set([1])], '[{},{}]'],
    ['boxed values', [Object(1), Object('a'), Object(false)], '[1,"a",false]'],
    ['bytes', new Uint8Array([1, 2]), '{"0":1,"1":2}'],
    ['an instance of a class', new URL('https://example.org/'), '"https://example.org/"'],
    ['toJSON', { toJSON: () => ({ a: [undefined] }) }, '{"a":[null]}'],
  ])('may have %s', async (_, value, text) => {
    expect(await serialiseValue(value)).toBe(text)
  })

  it.each([undefined, () => 1, Symbol('s'), { toJSON: () => undefined }])(
    'is missing when JSON.stringify returns undefined: %s',
    async (value) => expectRefused(value, 'value is missing.'),
  )

  it.each(wraps)(`may be nested ${MAX_NESTING} levels deep and no deeper: %s`, async (_, wrap) => {
    expect(JSON.parse(String(await serialiseValue(nested(MAX_NESTING, wrap))))).toEqual(nested(MAX_NESTING, wrap))
    await expectRefused(nested(MAX_NESTING + 1, wrap), tooDeep)
    await expectRefused(nested(100_000, wrap), tooDeep)
  })

  it.each([
    ['a BigInt', 1n],
    ['a boxed BigInt', Object(1n)],
    ['a circle', circle()],
    ['toJSON that throws', { toJSON: () => JSON.parse('no') }],
  ])('must not be or contain %s', async (_, value) => {
    for (const holder of [value, [value], { a: { b: value } }]) await expectRefused(holder, notJson)
  })

  it('counts the nesting of what toJSON returns', async () => {
    const toJSON = (depth: number) => ({ toJSON: () => nested(depth, (inner) => [inner]) })
    expect(await serialiseValue(toJSON(MAX_NESTING))).toBe(JSON.stringify(nested(MAX_NESTING, (inner) => [inner])))
    for (const depth of [MAX_NESTING + 1, 100_000]) await expectRefused(toJSON(depth), tooDeep)
  })
})
