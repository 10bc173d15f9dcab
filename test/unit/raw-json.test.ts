import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Placeholders } from '../../routers/kernel/raw-json/placeholders.ts'
import { MAX_NESTING, serialiseValue } from '../../routers/kernel/raw-json/text.ts'
import { codePoint } from '../support/code-point.ts'

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

describe('a stored text', () => {
  it('is rendered unchanged', async () => {
    const texts = fc.array(fc.oneof(fc.string({ unit: codePoint }), fc.json()), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(texts, fc.string({ unit: codePoint }), async (stored, beside) => {
        const placeholders = new Placeholders()
        const answer = JSON.stringify({ beside, items: stored.map((text) => ({ value: placeholders.insert([text]) })) })
        const values = stored.map((text) => `{"value":${text}}`).join(',')
        expect(await placeholders.render(answer)).toBe(`{"beside":${JSON.stringify(beside)},"items":[${values}]}`)
      }),
    )
  })

  it('may contain patterns of String.replace', async () => {
    const placeholders = new Placeholders()
    const mark = placeholders.insert(['"$& $1 $$ $` $\'"'])
    expect(await placeholders.render(JSON.stringify([mark]))).toBe('["$& $1 $$ $` $\'"]')
  })

  it('cannot insert another one, even if it contains its placeholder', async () => {
    const placeholders = new Placeholders()
    const secret = placeholders.insert(['"secret"'])
    const sly = placeholders.insert([JSON.stringify(secret)])
    expect(await placeholders.render(JSON.stringify([sly]))).toBe(JSON.stringify([secret]))
  })

  it('replaces its placeholder everywhere, in any order and repeatedly', async () => {
    const placeholders = new Placeholders()
    const [a, b] = [placeholders.insert(['1e400']), placeholders.insert(['-0'])]
    expect(await placeholders.render(JSON.stringify([b, a, b]))).toBe('[-0,1e400,-0]')
  })
})

describe('a value of a request', () => {
  it('is stored as its text, whatever JSON.parse would return', async () => {
    for (const text of ['1e400', '-0', '12345678901234567890', '{"a":1,"a":2}', '"\\ud800"', '{ "b":1, "a":2 }']) {
      const placeholders = new Placeholders()
      expect(await placeholders.toText(placeholders.insertValue(0, async () => text))).toBe(text)
    }
  })

  it('is read only when its text is asked for', async () => {
    const placeholders = new Placeholders()
    let reads = 0
    const value = placeholders.insertValue(17, async () => `${++reads}`)
    expect([placeholders.readMinBytes(value), reads]).toEqual([17, 0])
    expect(await placeholders.toText(value)).toBe('1')
  })

  it('is serialised when it came parsed, even if it looks like a placeholder', async () => {
    const placeholders = new Placeholders()
    const other = 'value:00000000-0000-4000-8000-000000000000:0'
    for (const value of [other, placeholders.insert(['1']), { a: 1 }, null]) {
      expect(await placeholders.toText(value)).toBe(JSON.stringify(value))
      expect(placeholders.readMinBytes(value)).toBe(0)
    }
  })
})

describe('a large text', () => {
  it('is rendered in a later turn of the event loop', async () => {
    const turns: string[] = []
    setImmediate(() => {
      turns.push('this one')
      setImmediate(() => turns.push('the next'))
    })
    const placeholders = new Placeholders()
    await placeholders.render(JSON.stringify([placeholders.insert([`"${'x'.repeat(1_000_000)}"`])]))
    expect(turns).toEqual(['this one', 'the next'])
  })

  it('leaves other requests their turn before the next one', async () => {
    const placeholders = new Placeholders()
    const marks = Array.from({ length: 5 }, () => placeholders.insert([`"${'x'.repeat(1_100_000)}"`]))
    let turns = 0
    let isRendered = false
    const count = () => {
      turns++
      if (!isRendered) setImmediate(count)
    }
    setImmediate(count)
    await placeholders.render(JSON.stringify(marks))
    isRendered = true
    // One after each is measured, and one after each is written.
    expect(turns).toBeGreaterThanOrEqual(10)
  })

  it('in UTF-8 is rendered unchanged, beside a string', async () => {
    const placeholders = new Placeholders()
    const text = JSON.stringify('aé€😀'.repeat(30_000))
    const marks = [placeholders.insert([Buffer.from(text)]), placeholders.insert(['"ü"'])]
    const rendered = await placeholders.render(JSON.stringify(['ß', ...marks]))
    expect(rendered).toEqual(Buffer.from(`["ß",${text},"ü"]`))
  })

  it('does not delay a small one', async () => {
    const placeholders = new Placeholders()
    const turns: string[] = []
    setImmediate(() => turns.push('this one'))
    await placeholders.render(JSON.stringify([placeholders.insert(['1'])]))
    expect(turns).toEqual([])
  })
})

describe('a response that is rendered by line', () => {
  const toStream = (chunks: string[]) => ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)))

  it('gets each text on the line of its placeholder', async () => {
    const placeholders = new Placeholders(true)
    const texts = ['{\n  "a": [1,\r\n 2]\n}', '"\\n"', '1e400', '" "', Buffer.from('[1,\n2]')]
    const lines = texts.map((text) => `${JSON.stringify({ value: placeholders.insert([text]) })}\n`)
    const answer = await new Response(placeholders.renderLines(toStream([...lines, ' ', '[0]\n']))).text()
    const expected = [
      '{"value":{   "a": [1,   2] }}',
      '{"value":"\\n"}',
      '{"value":1e400}',
      '{"value":" "}',
      '{"value":[1, 2]}',
      ' [0]',
      '',
    ]
    expect(answer.split('\n')).toEqual(expected)
  })
})

describe('a placeholder', () => {
  it('is not recognised when it is invented or part of a longer text', async () => {
    const placeholders = new Placeholders()
    const mark = placeholders.insert(['1'])
    const beside = ['placeholder:00000000-0000-4000-8000-000000000000:0', `x${mark}`, `${mark}x`, `"${mark}"`]
    expect(await placeholders.render(JSON.stringify([...beside, mark]))).toBe(
      `${JSON.stringify(beside).slice(0, -1)},1]`,
    )
  })

  it('is new in each instance, so that stored texts cannot contain it', () => {
    expect(new Placeholders().insert(['1'])).toMatch(/^placeholder:[0-9a-f-]{36}:0$/)
  })
})

it('a response without placeholders is returned unchanged', async () => {
  const answer = '{"value":"placeholder:0"}'
  expect(await new Placeholders().render(answer)).toBe(answer)
})
