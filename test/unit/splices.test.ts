import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Splices } from '../../rest-facade/splices.ts'

describe('a stored text', () => {
  it('goes out as it is, between what stands around it', async () => {
    const texts = fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(texts, fc.string({ unit: 'binary' }), async (stored, beside) => {
        const splices = new Splices()
        const answer = JSON.stringify({ beside, items: stored.map((text) => ({ value: splices.hold([text]) })) })
        const values = stored.map((text) => `{"value":${text}}`).join(',')
        expect(await splices.into(answer)).toBe(`{"beside":${JSON.stringify(beside)},"items":[${values}]}`)
      }),
    )
  })

  it('keeps what a replacement of String.replace would take for a pattern', async () => {
    const splices = new Splices()
    const mark = splices.hold(['"$& $1 $$ $` $\'"'])
    expect(await splices.into(JSON.stringify([mark]))).toBe('["$& $1 $$ $` $\'"]')
  })

  it('cannot pull in another one, though it held the mark of it', async () => {
    const splices = new Splices()
    const secret = splices.hold(['"secret"'])
    const sly = splices.hold([JSON.stringify(secret)])
    expect(await splices.into(JSON.stringify([sly]))).toBe(JSON.stringify([secret]))
  })

  it('stands wherever its mark does, in any order and twice', async () => {
    const splices = new Splices()
    const [a, b] = [splices.hold(['1e400']), splices.hold(['-0'])]
    expect(await splices.into(JSON.stringify([b, a, b]))).toBe('[-0,1e400,-0]')
  })
})

describe('a large text', () => {
  it('goes out in another turn of the event loop than that in which it was read', async () => {
    const turns: string[] = []
    setImmediate(() => {
      turns.push('this one')
      setImmediate(() => turns.push('the next'))
    })
    const splices = new Splices()
    await splices.into(JSON.stringify([splices.hold([`"${'x'.repeat(1_000_000)}"`])]))
    expect(turns).toEqual(['this one', 'the next'])
  })

  it('is not waited for when it is small', async () => {
    const splices = new Splices()
    const turns: string[] = []
    setImmediate(() => turns.push('this one'))
    await splices.into(JSON.stringify([splices.hold(['1'])]))
    expect(turns).toEqual([])
  })
})

describe('an answer that is read line by line', () => {
  const streamOf = (chunks: string[]) => ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)))

  it('gets the texts, too, each on the line of its mark', async () => {
    const splices = new Splices(true)
    const texts = ['{\n  "a": [1,\r\n 2]\n}', '"\\n"', '1e400', '" "']
    const lines = texts.map((text) => `${JSON.stringify({ value: splices.hold([text]) })}\n`)
    const answer = await new Response(splices.intoLines(streamOf([...lines, ' ', '[0]\n']))).text()
    const expected = [
      '{"value":{   "a": [1,   2] }}',
      '{"value":"\\n"}',
      '{"value":1e400}',
      '{"value":" "}',
      ' [0]',
      '',
    ]
    expect(answer.split('\n')).toEqual(expected)
  })
})

describe('what looks like a mark', () => {
  it('is none when it was made up, and none inside a longer text', async () => {
    const splices = new Splices()
    const mark = splices.hold(['1'])
    const beside = ['splice:00000000-0000-4000-8000-000000000000:0', `x${mark}`, `${mark}x`, `"${mark}"`]
    expect(await splices.into(JSON.stringify([...beside, mark]))).toBe(`${JSON.stringify(beside).slice(0, -1)},1]`)
  })

  it('is another one in each run, so that nothing stored before can hold it', () => {
    expect(new Splices().hold(['1'])).toMatch(/^splice:[0-9a-f-]{36}:0$/)
  })
})

describe('an answer without stored texts', () => {
  it('stays as it is', async () => {
    const answer = '{"value":"splice:0"}'
    expect(await new Splices().into(answer)).toBe(answer)
  })
})
