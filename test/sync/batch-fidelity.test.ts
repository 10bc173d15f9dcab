import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { expectBytes, expectSame, startStorage } from '../storage/exact.ts'
import { few, named, parsedOtherwise, values } from '../storage/values.ts'
import { times } from '../support/rounds.ts'

/** All values; in `npm test` without that of 9 MB. */
const own = values.filter(([, text]) => text.length < times(Number.POSITIVE_INFINITY, 1_000_000))
/** What could be taken for the fields of an operation, for its end, or for the end of the list. */
const lookalikes = named('{"value":{"value":{"value":null}}}', '"$& $1 $$"', 'white space everywhere', '256 arrays')
  .map(([, text]) => text)
  .concat('"},{\\"value\\":1}]"', '[{"op":"delete","value":[{"value":{}}]}]', '{"operations":[{"value":1}]}')

describe('a value in a batch', () => {
  let storage: Awaited<ReturnType<typeof startStorage>>
  beforeAll(async () => {
    storage = await startStorage()
  })
  afterAll(() => storage.world.close())

  const place = { collection: 'c', key: 'k', scope: 'org' } as const
  const other = { ...place, key: 'other' }
  const address = '"collection":"c","key":"k"'

  /** Expects the result of a get at index 1, whose text it returns. */
  const expectRead = (bytes: Buffer, text: string, around: (results: string) => string) => {
    const [, etag, updatedAt] =
      /"etag":"\\"([0-9a-f-]{36})\\"","updatedAt":(\d{10})/.exec(bytes.toString('latin1')) ?? []
    const stored = `{"etag":"\\"${etag}\\"","updatedAt":${updatedAt}}`
    const found = `{"key":"k","value":${text},"updatedAt":${updatedAt},"etag":"\\"${etag}\\""}`
    expectBytes(bytes, around(`{"results":[${stored},${found},{"key":"none","missing":true}]}`))
  }
  const operations = (text: string) =>
    `[{"op":"put",${address},"value":${text}},{"op":"get",${address}},{"op":"get","collection":"c","key":"none"}]`

  it.each(own)('is stored and returned byte for byte: %s', async (_, text) => {
    expectRead((await storage.batch(`{"operations":${operations(text)}}`)).bytes, text, (results) => results)
    await storage.expectStored(place, text)
  })

  it.each(few)('is stored and returned byte for byte over tRPC, alone and in a batch of calls: %s', async (_, text) => {
    const input = `{"operations":${operations(text)}}`
    const alone = await storage.mutation('storage.batch', input)
    expectRead(alone.bytes, text, (results) => `{"result":{"data":${results}}}`)
    await storage.expectStored(place, text)
    await storage.put(place, '"before"')
    const among = await storage.mutation('storage.batch', `{"0":${input}}`, '?batch=1')
    expectRead(among.bytes, text, (results) => `[{"result":{"data":${results}}}]`)
    await storage.expectStored(place, text)
  })

  it.each(parsedOtherwise)(
    'is in this process what JSON.parse returns and JSON.stringify writes: %s',
    async (_, text) => {
      const caller = callAs(storage.world.core, storage.world.principal())
      const value = JSON.parse(text)
      const { results } = await caller.storage.batch({
        operations: [
          { op: 'put', ...place, value },
          { op: 'get', ...place },
        ],
      })
      expectSame((results[1] as { value: unknown }).value, JSON.parse(JSON.stringify(value)))
      await storage.expectStored(place, JSON.stringify(value))
    },
  )

  it.each(lookalikes)('is cut out of a body with white space, escapes and other values around it: %s', async (text) => {
    const puts = `{ "op":"put" , ${address},\n"\\u0076alue"\t: \r\n${text} \n, "scope":"org"} ,\t{"value":[{"value":1}],"op":"put","collection":"c","key":"other"}`
    for (const send of [
      (body: string) => storage.batch(`\ufeff {"\\u006fperations" :[ ${body} ] }\n`),
      (body: string) => storage.mutation('storage.batch', `\ufeff {"operations":[{},1],"operations" :[ ${body} ] }\n`),
      (body: string) =>
        storage.mutation('storage.batch', `{"1":{"operations":[]}, "0":{"operations" :[ ${body} ] }}`, '?batch=1'),
    ]) {
      await storage.put(place, '"before"')
      await storage.put(other, '"before"')
      const { status, bytes } = await send(puts)
      expect([status, bytes.toString()]).toEqual([200, expect.stringContaining('results')])
      await storage.expectStored(place, text)
      await storage.expectStored(other, '[{"value":1}]')
    }
  })
})
