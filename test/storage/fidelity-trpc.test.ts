import { createTRPCClient, httpBatchStreamLink } from '@trpc/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import type { AppRouter } from '../../routers/index.ts'
import { expectBytes, expectSame, startStorage } from './exact.ts'
import { few, named, parsedOtherwise } from './values.ts'

/** Like what tRPC or we put around a value, or in its place. */
const lookalikes = named(
  '{"result":{"data":{"json":1,"meta":{"values":["undefined"]}}}}',
  '{"value":{"value":{"value":null}}}',
  '"placeholder:00000000-0000-4000-8000-000000000000:0"',
  '"$& $1 $$"',
)
/** A stream is read line by line. */
const read = [...few, ...parsedOtherwise, ...lookalikes, ...named('line breaks of every kind')]
/** The service cuts a value out of the input, and does not parse it. */
const sent = [...few, ...lookalikes, ...named('white space everywhere', '256 arrays', '{"a":1,"a":2}', '1E+2')]
const parsed = [...few, ...parsedOtherwise]

describe('a value', () => {
  let storage: Awaited<ReturnType<typeof startStorage>>
  beforeAll(async () => {
    storage = await startStorage()
  })
  afterAll(() => storage.world.close())

  const collection = { collection: 'c', scope: 'org' } as const
  const place = { ...collection, key: 'k' }

  const inProcess = () => callAs(storage.world.core, storage.world.principal()).storage
  const streaming = () => {
    const { world, authorization } = storage
    const link = httpBatchStreamLink({ url: `http://127.0.0.1:${world.internalPort}/trpc`, headers: { authorization } })
    return createTRPCClient<AppRouter>({ links: [link] }).storage
  }

  it.each(read)('is read as JSON.parse returns it, over tRPC, in a stream and in process: %s', async (_, text) => {
    const { typed } = await storage.put(place, text)
    const { bytes: one } = await storage.query('storage.get', place)
    const { bytes: list } = await storage.query('storage.list', collection)
    expectBytes(one, `{"result":{"data":${typed}}}`)
    expectBytes(list, `{"result":{"data":{"items":[${typed}],"total":1}}}`)
    const found = [JSON.parse(one.toString()).result.data, ...JSON.parse(list.toString()).result.data.items]
    const stream = streaming()
    const streamed = await Promise.all([stream.get.query(place), stream.list.query(collection)])
    const local = await Promise.all([inProcess().get(place), inProcess().list(collection)])
    for (const [entry, { items }] of [streamed, local]) found.push(entry, ...items)
    expect(found).toHaveLength(6)
    for (const { value } of found) expectSame(value, JSON.parse(text))
  })

  it.each(sent)('is stored byte for byte when sent over tRPC, alone and in a batch: %s', async (_, text) => {
    const input = `{"collection":"c","key":"k","scope":"org","value":${text}}`
    for (const [line, body] of [
      ['', input],
      ['?batch=1', `{"0":${input}}`],
    ] as const) {
      await storage.put(place, '"before"')
      const { bytes } = await storage.mutation('storage.put', body, line)
      const [{ result, error }] = [JSON.parse(bytes.toString())].flat()
      expect(error).toBe(undefined)
      expectSame(result.data.value, JSON.parse(text))
      await storage.expectStored(place, text)
    }
  })

  it.each(parsed)('is stored as JSON.stringify writes it when sent in process: %s', async (_, text) => {
    await storage.put(place, '"before"')
    const { value } = await inProcess().put({ ...place, value: JSON.parse(text) })
    expectSame(value, JSON.parse(JSON.stringify(JSON.parse(text))))
    await storage.expectStored(place, JSON.stringify(JSON.parse(text)))
  })
})
