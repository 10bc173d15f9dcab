import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { add } from '../../routers/storage/add.ts'
import { merge } from '../../routers/storage/merge.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** The algorithm of RFC 7396, 2. */
function patched(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch
  const result: { [key: string]: Json } = Object.assign(Object.create(null), isObject(target) ? target : {})
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = patched(result[key], value)
  }
  return result
}

const isObject = (value: Json | undefined): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

describe('merge', () => {
  it.each([
    ['{"a":1}', '{"b":2}', '{"a":1,"b":2}'],
    ['{}', '{"b":2}', '{"b":2}'],
    ['{ }', '{"b":2}', '{"b":2 }'],
    ['{ "a" : 1.50 , "b" : [1, 2] }', '{"c":1e2}', '{ "a" : 1.50 , "b" : [1, 2],"c":1e2 }'],
    ['{ "a" : 1.50 , "b" : [1, 2] }', '{"b":[ 3 ]}', '{ "a" : 1.50 , "b" : [ 3 ] }'],
    ['{ "a" : 1.50 , "b" : 2 }', '{"a":null}', '{ "b" : 2 }'],
    ['{ "a" : 1.50 , "b" : 2 }', '{"b":null}', '{ "a" : 1.50 }'],
    ['{"a":1,"b":2,"c":3}', '{"b":null,"d":null}', '{"a":1,"c":3}'],
    ['{"a":1}', '{"a":null}', '{}'],
    ['{"a":1}', '{"a":null,"b":1}', '{"b":1}'],
    ['{ "a":1, "b":2 , "c":3 }', '{"a":null,"b":null}', '{ "c":3 }'],
    ['{ "a":1, "b":2 , "c":3 }', '{"b":null,"c":4}', '{ "a":1 , "c":4 }'],
    ['{"a":{"b":1 ,"c":"\\u0041"}}', '{"a":{"b":2}}', '{"a":{"b":2 ,"c":"\\u0041"}}'],
    ['{"\\u0061":1}', '{"a":2}', '{"\\u0061":2}'],
    ['{"a":1}', '{"a":{"b":null,"c":{"d":null,"e":1.0}}}', '{"a":{"c":{"e":1.0}}}'],
    ['{"a":1}', '{"b":{ "c" : 1.0 }}', '{"a":1,"b":{ "c" : 1.0 }}'],
    ['{"x":1,"x":2}', '{"a":1}', '{"x":1,"x":2,"a":1}'],
    ['{"a":"}\\"{"}', '{"b":"]"}', '{"a":"}\\"{","b":"]"}'],
    ['{"__proto__":1}', '{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}'],
  ])('of %s and %s is %s', (text, patch, result) => expect(merge(text, patch)).toBe(result))

  it.each([
    ['{ "b" : 2.0 , "\\u0061":{}}', '{ "b" : 2.0 , "\\u0061":{}}'],
    [' {"a":null} ', '{}'],
    ['{"a":null,"b":{"c":null,"d":{ "e" : 1 }},"f":1}', '{"b":{"d":{ "e" : 1 }},"f":1}'],
  ])('without an object, of %s is %s', (patch, result) => expect(merge(undefined, patch)).toBe(result))

  it.each([
    [undefined, '[]', 'mergeNotObject'],
    [undefined, '{"a":1,"\\u0061":2}', 'nameTwice'],
    ['[1]', '{}', 'mergeNotObject'],
    ['null', '{}', 'mergeNotObject'],
    ['{}', '[]', 'mergeNotObject'],
    ['{}', 'null', 'mergeNotObject'],
    ['{"a":1,"a":2}', '{"a":3}', 'nameTwice'],
    ['{"a":1,"\\u0061":2}', '{"a":null}', 'nameTwice'],
    ['{}', '{"a":1,"a":2}', 'nameTwice'],
  ])('of %s and %s is refused: %s', (text, patch, id) =>
    expect(() => merge(text, patch)).toThrow(expect.objectContaining({ id })),
  )

  const value = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom<Json[]>(null, true, 1, -0.5, 'a', '"\\', '{', '\u2028'),
      fc.array(tie('json'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '', '__proto__', 'é"'), tie('json'), {
      maxKeys: 4,
      noNullPrototype: false,
    }),
  })) as { object: fc.Arbitrary<{ [key: string]: Json }> }
  const spaced = fc
    .tuple(value.object, fc.constantFrom(undefined, 1, '\t'))
    .map(([one, space]) => JSON.stringify(one, null, space))

  it('has the result of RFC 7396, whatever the white space', () => {
    fc.assert(
      fc.property(spaced, spaced, (text, patch) => {
        expect(JSON.parse(merge(text, patch))).toEqual(
          JSON.parse(JSON.stringify(patched(JSON.parse(text), JSON.parse(patch)))),
        )
      }),
    )
  })

  it('changes no byte where the patch changes nothing', () => {
    fc.assert(fc.property(spaced, (text) => void expect(merge(text, '{}')).toBe(text)))
    fc.assert(fc.property(spaced, (text) => void expect(merge(text, '{"absent":null}')).toBe(text)))
  })
})

describe('add', () => {
  const forty = '9'.repeat(40)
  it.each([
    ['1', '', '1', '2'],
    [' 1 ', '', '1', ' 2 '],
    ['{"n":1}', '/n', '1', '{"n":2}'],
    ['{ "n" : 0.1 , "m":[1, {"k":-5}] }', '/n', '0.2', '{ "n" : 0.3 , "m":[1, {"k":-5}] }'],
    ['{ "n" : 0.1 , "m":[1, {"k":-5}] }', '/m/1/k', '5', '{ "n" : 0.1 , "m":[1, {"k":0}] }'],
    ['{"a/b":{"~":{"":9007199254740993}}}', '/a~1b/~0/', '1', '{"a/b":{"~":{"":9007199254740994}}}'],
    ['{"n":1.50}', '/n', '1.5', '{"n":3.00}'],
    ['{"n":1e3}', '/n', '1', '{"n":1001}'],
    ['{"n":1E-3}', '/n', '1e-2', '{"n":0.011}'],
    ['{"n":-0.5}', '/n', '0.25', '{"n":-0.25}'],
    ['{"n":-0}', '/n', '0', '{"n":0}'],
    ['{"n":1e40}', '/n', '1e40', '{"n":2e40}'],
    ['{"n":1e-40}', '/n', '1e-40', `{"n":0.${'0'.repeat(39)}2}`],
    ['{"n":0}', '/n', '1.5e-40', '{"n":1.5e-40}'],
    [`{"n":${forty}}`, '/n', '-1', `{"n":${'9'.repeat(39)}8}`],
    ['{"x":1,"x":2,"n":0}', '/n', '1', '{"x":1,"x":2,"n":1}'],
    ['{"\\u006e":1}', '/n', '1', '{"\\u006e":2}'],
    ['[ 1 , 2 ]', '/1', '1', '[ 1 , 3 ]'],
  ])('to %s at %s: with %s it is %s', (text, pointer, addend, result) =>
    expect(add(text, pointer, addend)).toBe(result),
  )

  it.each([
    ['{}', '/n', '1', 'notNumber'],
    ['{"n":"1"}', '/n', '1', 'notNumber'],
    ['{"n":1}', '/n/m', '1', 'notNumber'],
    ['{"n":1}', '', '1', 'notNumber'],
    ['[1]', '/-', '1', 'notNumber'],
    ['[1]', '/00', '1', 'notNumber'],
    ['[1]', '/1', '1', 'notNumber'],
    ['{"n":1}', '/n', '"1"', 'notNumber'],
    ['{"n":1}', '/n', 'null', 'notNumber'],
    ['{"n":1,"n":2}', '/n', '1', 'nameTwice'],
    ['{"a":{"n":1},"\\u0061":{}}', '/a/n', '1', 'nameTwice'],
    [`{"n":${forty}}`, '/n', '2', 'numberTooLong'],
    [`{"n":${forty}0}`, '/n', '-1', 'numberTooLong'],
    ['{"n":1e41}', '/n', '1', 'numberTooLong'],
    ['{"n":1}', '/n', '1e-41', 'numberTooLong'],
    ['{"n":1e40}', '/n', '1', 'numberTooLong'],
    ['{"n":1.5e-40}', '/n', '-1.4e-40', 'numberTooLong'],
    ['{"n":9e40}', '/n', '9e40', 'numberTooLong'],
    ['{"n":1}', '/n', '1e999999999999999999', 'numberTooLong'],
  ])('to %s at %s, %s is refused: %s', (text, pointer, addend, id) =>
    expect(() => add(text, pointer, addend)).toThrow(expect.objectContaining({ id })),
  )

  it('is exact: taking away again leads back to the number', () => {
    const number = fc.tuple(fc.bigInt(-(10n ** 18n), 10n ** 18n), fc.integer({ min: -15, max: 15 }))
    const decimal = number.map(([n, e]) => `${n}e${e}`)
    const scaled = (text: string) => {
      const [, whole, fraction = '', power = '0'] = /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text)!
      return BigInt(whole + fraction) * 10n ** BigInt(60 + Number(power) - fraction.length)
    }
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        let result: string
        try {
          result = add(a, '', b)
        } catch (error) {
          expect(error).toMatchObject({ id: 'numberTooLong' })
          return
        }
        expect(scaled(result)).toBe(scaled(a) + scaled(b))
      }),
    )
  })
})
