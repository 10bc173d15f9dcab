import { createTRPCClient, httpBatchStreamLink } from '@trpc/client'
import { describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import type { AppRouter } from '../../routers/index.ts'
import { times } from '../support/rounds.ts'
import { startedAround } from '../support/started.ts'
import { expectBytes, expectSame, startStorage } from './exact.ts'
import { few, named, parsedOtherwise, values } from './values.ts'

/** Page size, small enough for many pages. */
const PAGE = 7

/** All values for one scope; in `npm test` without that of 9 MB. */
const whole = values.filter(([, text]) => text.length < times(Number.POSITIVE_INFINITY, 1_000_000))
const scoped = [
  { scope: 'org', own: whole },
  { scope: 'user', own: few },
] as const

// Each scope has a tenant of its own, whose quota holds all values together.
describe.each(scoped)('a value in scope $scope', ({ scope, own }) => {
  const storage = startedAround(startStorage)

  const place = { collection: 'alone', key: 'k', scope }

  const expectEntry = async (entry: string, text: string) => {
    expectBytes((await storage.rest('GET', `alone/k?scope=${scope}`)).bytes, entry)
    expectBytes((await storage.rest('GET', `alone?scope=${scope}`)).bytes, `{"items":[${entry}],"total":1}`)
    await storage.expectStored(place, text)
  }

  it.each(own)('is returned byte for byte: %s', async (_, text) => {
    await expectEntry((await storage.put(place, text)).entry, text)
  })

  it.each(few)('is returned byte for byte after it was replaced and restored: %s', async (_, text) => {
    await storage.put(place, text)
    await expectEntry((await storage.put(place, '{"other":[1.0]}')).entry, '{"other":[1.0]}')
    const body = `\ufeff \t{\r\n "\\u0076alue"\n: \t\r\n ${text} \n\t\r} \n`
    await expectEntry((await storage.put(place, text, body)).entry, text)
  })

  it('is returned byte for byte on every page of a list', async () => {
    await storage.rest('DELETE', `alone/k?scope=${scope}`)
    const entries: { entry: string; typed: string }[] = []
    const makePage = (form: 'entry' | 'typed', offset: number, size: number) =>
      `{"items":[${entries.slice(offset, offset + size).map((one) => one[form])}],"total":${own.length}}`
    // Written in reverse, because lists sort by key.
    for (const [i, [, text]] of [...own.entries()].reverse()) {
      const key = `v${String(i).padStart(3, '0')}`
      entries.unshift(await storage.put({ collection: 'all', key, scope }, text))
    }
    for (let offset = 0; offset < own.length; offset += PAGE) {
      expectBytes(
        (await storage.rest('GET', `all?scope=${scope}&limit=${PAGE}&offset=${offset}`)).bytes,
        makePage('entry', offset, PAGE),
      )
      const list = await storage.query('storage.list', { collection: 'all', scope, limit: PAGE, offset })
      expectBytes(list.bytes, `{"result":{"data":${makePage('typed', offset, PAGE)}}}`)
    }
    const whole = await storage.rest('GET', `all?scope=${scope}&limit=200`)
    expectBytes(whole.bytes, makePage('entry', 0, own.length))
  })
})

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
  const storage = startedAround(startStorage)

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
