import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JsonText, jsonTextOf, MAX_NESTING } from '../../routers/storage/json-text.ts'

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
const notJson = 'value holds something that JSON cannot.'

describe('a value that came as text', () => {
  it('is stored as that text, whatever JSON.parse would make of it', () => {
    for (const text of ['1e400', '-0', '12345678901234567890', '{"a":1,"a":2}', '"\\ud800"', '{ "b":1, "a":2 }']) {
      expect(jsonTextOf(new JsonText(text))).toBe(text)
    }
  })
})

describe('a parsed value', () => {
  it('is stored as the JSON that parses to it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(jsonTextOf(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  it('keeps __proto__, and a lone surrogate', () => {
    expect(jsonTextOf(JSON.parse('{"__proto__":{"a":1},"s":"\\ud800"}'))).toBe('{"__proto__":{"a":1},"s":"\\ud800"}')
  })

  it.each([undefined, Number.NaN, Infinity, -Infinity, 1n, Symbol('s'), () => 1])(
    'may not be %s, nor hold it',
    (value) => {
      for (const holder of [value, [value], { a: { b: value } }]) expect(() => jsonTextOf(holder)).toThrow(notJson)
    },
  )

  it('may not have a gap', () => {
    expect(() => jsonTextOf(new Array(2))).toThrow(notJson)
  })

  it.each(wraps)(`may be nested ${MAX_NESTING} deep, and no deeper: %s`, (_, wrap) => {
    expect(JSON.parse(jsonTextOf(nested(MAX_NESTING, wrap)))).toEqual(nested(MAX_NESTING, wrap))
    expect(() => jsonTextOf(nested(MAX_NESTING + 1, wrap))).toThrow(tooDeep)
    expect(() => jsonTextOf(nested(100_000, wrap))).toThrow(tooDeep)
  })

  it('may not be a circle', () => {
    const circle: Record<string, unknown> = {}
    circle.self = [circle]
    expect(() => jsonTextOf(circle)).toThrow(tooDeep)
  })
})

describe('what JavaScript adds to JSON', () => {
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
    ['toJSON that goes on for ever', { toJSON: () => nested(100_000, (inner) => [inner]) }],
    ['a Date', new Date(0)],
    ['a Map', new Map([[1, 2]])],
    ['a Set', new Set([1])],
    ['a boxed number', Object(1)],
    ['a boxed bigint', Object(1n)],
    ['bytes', new Uint8Array(2)],
  ])('is no value: %s', (_, value) => {
    expect(() => jsonTextOf(value)).toThrow(notJson)
    expect(() => jsonTextOf({ inner: [value] })).toThrow(notJson)
  })
})
