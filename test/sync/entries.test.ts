import { beforeAll, describe, expect, it } from 'vitest'
import type { Call } from '../support/request.ts'
import { useWorld } from '../support/started.ts'

const world = useWorld()

const entries = (query = '', options: Call = {}) => world.call('GET', `/collections/c/entries${query}`, options)
const keysOf = async (query = '') => (await entries(query)).body.items.map(({ key }: { key: string }) => key)

const keys = ['-', '-a', '0', 'A', 'Ab', '_', 'a', 'a-b', 'aB', 'a_', 'ab', 'abc', 'az', 'b', 'z', 'zz']

describe('the entries of a collection', () => {
  beforeAll(async () => {
    for (const key of keys.toReversed()) await world.call('PUT', `/storage/c/${key}`, { body: { value: { key } } })
    await world.call('PUT', '/storage/c/own?scope=user', { body: { value: 1 } })
    await world.call('PUT', '/storage/other/k', { body: { value: 1 } })
  })

  it('are those of the storage, in its order, each with its ETag', async () => {
    const { body } = await entries()
    const listed = (await world.call('GET', '/storage/c')).body
    expect(body.more).toBe(false)
    expect(body.items.map(({ etag, ...item }: { etag: string }) => item)).toEqual(listed.items)
    for (const { key, etag } of body.items) {
      expect((await world.call('GET', `/storage/c/${key}`)).headers.etag).toBe(etag)
    }
    expect(await keysOf('?scope=user')).toEqual(['own'])
  })

  it('have an ETag that If-Match takes', async () => {
    const [{ etag }] = (await entries('?prefix=zz')).body.items
    const put = (tag: string) =>
      world.call('PUT', '/storage/c/zz', { body: { value: { key: 'zz' } }, headers: { 'if-match': tag } })
    expect([(await put(etag)).status, (await put(etag)).status]).toEqual([200, 412])
  })

  it.each([
    ['a', ['a', 'a-b', 'aB', 'a_', 'ab', 'abc', 'az']],
    ['ab', ['ab', 'abc']],
    ['-', ['-', '-a']],
    ['_', ['_']],
    ['z', ['z', 'zz']],
    ['zzz', []],
  ])('of the prefix "%s" are %j', async (prefix, expected) => {
    expect(await keysOf(`?prefix=${prefix}`)).toEqual(expected)
  })

  it('of a prefix begin after a key as well', async () => {
    expect(await keysOf('?prefix=a&after=aB')).toEqual(['a_', 'ab', 'abc', 'az'])
    expect(await keysOf('?prefix=a&after=A')).toEqual(['a', 'a-b', 'aB', 'a_', 'ab', 'abc', 'az'])
    expect(await keysOf('?prefix=a&after=b')).toEqual([])
    expect((await entries('?prefix=a&after=ab&limit=1')).body).toMatchObject({ items: [{ key: 'abc' }], more: true })
    expect((await entries('?prefix=a&after=abc&limit=1')).body).toMatchObject({ items: [{ key: 'az' }], more: false })
  })

  it('are without values if asked', async () => {
    const whole = (await entries()).body
    const bare = (await entries('?values=false')).body
    const items = whole.items.map(({ value, ...item }: { value: unknown }) => item)
    expect(bare).toEqual({ items, more: false })
    expect((await entries('?values=true')).body).toEqual(whole)
  })

  it('of an unknown collection are none', async () => {
    const { status, body } = await world.call('GET', '/collections/unknown/entries')
    expect([status, body]).toEqual([200, { items: [], more: false }])
  })

  it('have no ETag as a whole: If-None-Match of an entry is 200', async () => {
    const [{ etag }] = (await entries()).body.items
    const reply = await entries('', { headers: { 'if-none-match': etag } })
    expect([reply.status, reply.headers.etag]).toEqual([200, undefined])
  })
})
