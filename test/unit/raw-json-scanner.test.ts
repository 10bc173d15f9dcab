import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Member, MemberLevel } from '../../routers/kernel/raw-json/scanner.ts'
import { JsonScanner } from '../../routers/kernel/raw-json/scanner.ts'
import { times } from '../support/rounds.ts'

/** Everything that a scanner finds when it reads `step` bytes at a time. */
function scan(content: string | Buffer, step = Number.POSITIVE_INFINITY, from = 0, memberLevel?: MemberLevel) {
  const members: Member[] = []
  const scanner = new JsonScanner(
    Buffer.from(content as string),
    from,
    (member) => members.push({ ...member }),
    memberLevel,
  )
  do scanner.read(step)
  while (scanner.pending)
  const { wellFormed, rootIsObject, nesting } = scanner
  return { wellFormed, rootIsObject, nesting, members }
}

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** A JSON text with its nesting, known from its construction. */
interface Made {
  text: string
  nesting: number
}

const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 2 })
const number = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][+-]?\d{1,4})?$/)
const unit = fc.oneof(
  fc.constantFrom('a', '{', '}', '[', ']', ',', ':', ' ', 'ä', '😀', '\u2028', '\u007f', '\ufeff'),
  fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0000', '\\ud800', '\\uD83d\\uDE00'),
)
const string = fc.string({ unit, maxLength: 8 }).map((inner) => `"${inner}"`)

const { value, entries } = fc.letrec<{ value: Made; entries: [string, Made][] }>((tie) => ({
  entries: fc.array(fc.tuple(string, tie('value')), { maxLength: 4 }),
  value: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'nesting' },
    fc.oneof(number, string, fc.constantFrom('true', 'false', 'null')).map((text) => ({ text, nesting: 0 })),
    fc.tuple(fc.array(tie('value'), { maxLength: 4 }), space).map(([items, s]) => ({
      text: `[${s}${items.map(({ text }) => `${s}${text}${s}`).join(',')}]`,
      nesting: 1 + Math.max(0, ...items.map(({ nesting }) => nesting)),
    })),
    fc.tuple(tie('entries'), space).map(([pairs, s]) => ({
      text: `{${s}${pairs.map(([key, { text }]) => `${key}${s}:${s}${text}${s}`).join(',')}}`,
      nesting: 1 + Math.max(0, ...pairs.map(([, { nesting }]) => nesting)),
    })),
  ),
}))
const makeObject = (pairs: [string, Made][]) => ({
  text: `{${pairs.map(([key, { text }]) => `${key}:${text}`).join(',')}}`,
})
const root = fc.tuple(space, value, space).map(([before, { text, nesting }, after]) => ({
  text: before + text + after,
  nesting,
}))

const alphabet = [...'{}[],:"\\/ \n\t0123456789-+.eEtrufalsn\u0000\u0001\u001f\u00a0\ufeffx\'']
const noise = fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 12 })

/** JSON with a few characters changed; mostly invalid. */
const mutated = fc
  .tuple(root, fc.array(fc.tuple(fc.nat(), fc.nat(3), noise), { minLength: 1, maxLength: 3 }))
  .map(([{ text }, changes]) =>
    changes.reduce((changed, [seed, length, inserted]) => {
      const at = seed % (changed.length + 1)
      return changed.slice(0, at) + inserted.slice(0, 2) + changed.slice(at + length)
    }, text),
  )

describe('JsonScanner', () => {
  const runs = { numRuns: times(3000, 200) }

  it('agrees with JSON.parse on valid JSON', () => {
    fc.assert(
      fc.property(root, ({ text, nesting }) => {
        expect(isJson(text)).toBe(true)
        expect(scan(text)).toMatchObject({ wellFormed: true, nesting, rootIsObject: /^\s*\{/.test(text) })
      }),
      runs,
    )
  })

  it('agrees with JSON.parse on JSON with a few changed characters', () => {
    fc.assert(
      fc.property(mutated, (text) => {
        expect(scan(text).wellFormed).toBe(isJson(text))
      }),
      { numRuns: times(10_000, 500) },
    )
  })

  const length = times(4, 3)
  it(`agrees with JSON.parse on every text of up to ${length} characters of its alphabet`, () => {
    const characters = [...'{}[],:"\\0-.e1 a\n']
    const grow = (texts: string[]) => texts.flatMap((text) => characters.map((character) => text + character))
    let texts = ['']
    const different: string[] = []
    for (let grown = 0; grown <= length; grown++) {
      different.push(...texts.filter((text) => scan(text).wellFormed !== isJson(text)))
      texts = grow(texts)
    }
    expect(different).toEqual([])
  })

  it('agrees with JSON.parse on the edges of each rule', () => {
    const valid = ['-0', '1e400', '"\\u0aF9"', '"\\ud800"', '"\u007f"', '{"a":1,"a":2}']
    const invalid = [
      ...['', ' ', '\ufeff', '01', '-', '1.', '.5', '1e+', '+1', '0x10', 'NaN', 'Infinity', 'undefined'],
      ...['tru', 'truee', 'nul', '"\\u12"', '"\\u00zz"', '"\\x41"', '"\t"', '"\n"', '"\0"', '"a'],
      ...[...'/:@G`g'].map((beside) => `"\\u000${beside}"`),
      ...['{"a":1,}', '{,}', '{"a"}', '{a:1}', "{'a':1}", '{"a":1 "b":2}', '{]', '{"a":[}', '{"a":1'],
      ...['[1,]', '[,1]', '[1 2]', '[}', '1 1', '{}{}', '{}}', '{}x', '{} x', '{}\0', '\ufeff{}', '{}\u00a0'],
      ...['/**/{}', '[1/* */]', '{}//', 'value=1', '<value>1</value>'],
    ]
    expect(valid.filter((text) => !isJson(text) || !scan(text).wellFormed)).toEqual([])
    expect(invalid.filter((text) => isJson(text) || scan(text).wellFormed)).toEqual([])
  })
})

it('a pause does not change the result, wherever it falls', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        root.map(({ text }) => text),
        mutated,
      ),
      (text) => {
        const bytes = Buffer.from(text)
        const whole = scan(bytes)
        for (let step = 1; step <= Math.min(bytes.length, 64); step++) expect(scan(bytes, step)).toEqual(whole)
      },
    ),
    { numRuns: times(1000, 150) },
  )
})

describe('the members of the root object', () => {
  it('have exact positions and their own nesting', () => {
    fc.assert(
      fc.property(entries, space, fc.nat(20), (pairs, s, step) => {
        let text = `${s}{${s}`
        const length = () => Buffer.byteLength(text)
        const expected = pairs.map(([key, { text: inner, nesting }], i): Member => {
          if (i > 0) text += `,${s}`
          const keyStart = length()
          text += key
          const keyEnd = length()
          text += `${s}:${s}`
          const valueStart = length()
          text += inner
          const valueEnd = length()
          text += s
          return { item: 0, keyStart, keyEnd, valueStart, valueEnd, nesting }
        })
        text += `}${s}`
        expect(scan(text, step + 1).members).toEqual(expected)
      }),
      { numRuns: times(3000, 200) },
    )
  })

  it('are reported before an error', () => {
    expect(scan('{"a":1,"b":[2],"c":}').members).toHaveLength(2)
  })

  it('are empty for other roots', () => {
    for (const text of ['[{"value":1}]', '"value"', '[["value",1]]', 'null']) expect(scan(text).members).toEqual([])
  })
})

describe('the members of the items', () => {
  const shown = (text: string, step?: number) => {
    const at = (start: number, end: number) => Buffer.from(text).toString('utf8', start, end)
    return scan(text, step, 0, 'items').members.map((member) => {
      const { item, keyStart, keyEnd, valueStart, valueEnd, nesting } = member
      return [item, at(keyStart, keyEnd), at(valueStart, valueEnd), nesting] as const
    })
  }

  it('are those of each object in the outermost array, with its index', () => {
    const text = '[ {"a" : 1,"b":[[{"c":2}],3]} ,[{"d":1},2], "e", {},4, { "f":"," }, [[]],{"g":{"h":[]} } ]'
    const expected = [
      [0, '"a"', '1', 0],
      [0, '"b"', '[[{"c":2}],3]', 3],
      [5, '"f"', '","', 0],
      [7, '"g"', '{"h":[]}', 2],
    ]
    for (let step = 1; step <= text.length; step++) expect(shown(text, step)).toEqual(expected)
  })

  it('agree with JSON.parse on valid JSON', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(entries.map(makeObject), value), { maxLength: 5 }), (items) => {
        const text = `[${items.map((item) => item.text).join(',')}]`
        const isObject = (item: unknown) => typeof item === 'object' && item !== null && !Array.isArray(item)
        const parsed: unknown[] = JSON.parse(text)
        const members = parsed.map((): string[] => [])
        for (const [item, name, inner] of shown(text)) members[item]!.push(`${name}:${inner}`)
        const found = members.map((of) => JSON.parse(`{${of}}`))
        expect(found).toEqual(parsed.map((item) => (isObject(item) ? item : {})))
      }),
      { numRuns: times(1000, 100) },
    )
  })

  it('are empty for other roots', () => {
    for (const text of ['{"value":1}', '{"a":{"value":1}}', '[[{"value":1}]]', '[]', 'null'])
      expect(shown(text)).toEqual([])
  })
})

it('a start position skips what precedes it', () => {
  const [member] = scan('\ufeff{"a":1}', 1, 3).members
  expect(member).toMatchObject({ keyStart: 4, valueStart: 8, valueEnd: 9 })
})

it('a hostile text may be nested 2,000,000 levels deep', () => {
  const depth = 2_000_000
  expect(scan('['.repeat(depth))).toMatchObject({ wellFormed: false, nesting: depth })
  expect(scan('['.repeat(depth) + ']'.repeat(depth))).toMatchObject({ wellFormed: true, nesting: depth })
  expect(scan(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)).toMatchObject({ wellFormed: true, nesting: depth })
})
