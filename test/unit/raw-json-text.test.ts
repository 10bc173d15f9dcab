import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_NESTING, RawJson, rawJsonOf } from '../../routers/raw-json/text.ts'

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
const expectRefused = (value: unknown, message: string) => expect(async () => rawJsonOf(value)).rejects.toThrow(message)

describe('a RawJson value', () => {
  it('is stored as its text, whatever JSON.parse would return', async () => {
    for (const text of ['1e400', '-0', '12345678901234567890', '{"a":1,"a":2}', '"\\ud800"', '{ "b":1, "a":2 }']) {
      expect(await rawJsonOf(new RawJson(text))).toBe(text)
    }
  })
})

describe('a parsed value', () => {
  it('is stored as JSON.stringify writes it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
        expect(await rawJsonOf(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  it('keeps __proto__ and lone surrogates', async () => {
    expect(await rawJsonOf(JSON.parse('{"__proto__":{"a":1},"s":"\\ud800"}'))).toBe(
      '{"__proto__":{"a":1},"s":"\\ud800"}',
    )
  })

  it.each([undefined, Number.NaN, Infinity, -Infinity, 1n, Symbol('s'), () => 1])(
    'must not be or contain %s',
    async (value) => {
      for (const holder of [value, [value], { a: { b: value } }]) await expectRefused(holder, notJson)
    },
  )

  it('must not be sparse', async () => {
    await expectRefused(new Array(2), notJson)
  })

  it.each(wraps)(`may be nested ${MAX_NESTING} levels deep and no deeper: %s`, async (_, wrap) => {
    expect(JSON.parse(await rawJsonOf(nested(MAX_NESTING, wrap)))).toEqual(nested(MAX_NESTING, wrap))
    await expectRefused(nested(MAX_NESTING + 1, wrap), tooDeep)
    await expectRefused(nested(100_000, wrap), tooDeep)
  })

  it('must not be circular', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = [circle]
    await expectRefused(circle, tooDeep)
  })
})

describe('a value that JSON cannot represent', () => {
  it.each([
    ['toJSON', { toJSON: () => undefined }],
    [
      'toJSON that throws',
      {
        toJSON: () => {
          throw new Error('no')
        },
      },
    ],
    ['toJSON with endless nesting', { toJSON: () => nested(100_000, (inner) => [inner]) }],
    ['a Date', new Date(0)],
    ['a Map', new Map([[1, 2]])],
    ['a Set', new Set([1])],
    ['a boxed number', Object(1)],
    ['a boxed bigint', Object(1n)],
    ['bytes', new Uint8Array(2)],
  ])('is refused: %s', async (_, value) => {
    await expectRefused(value, notJson)
    await expectRefused({ inner: [value] }, notJson)
  })
})
