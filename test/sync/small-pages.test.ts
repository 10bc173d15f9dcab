import { beforeEach, describe, expect, it } from 'vitest'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()
let collection: string
beforeEach(() => {
  collection = id('c')
})

const changes = async (query: string, options: Parameters<typeof world.call>[2] = {}) =>
  world.call('GET', `/collections/${collection}/changes${query}`, options)
const put = async (key: string, value: number) => {
  const reply = await world.call('PUT', `/storage/${collection}/${key}`, { body: { value } })
  expect(reply.status).toBe(200)
}
interface Page {
  items: { key: string; value: number }[]
  cursor: string
  more: boolean
}

/** What docs/sync.md says of a `limit` below the number of keys that are written between two pages. */
describe('a reader with limit=1 beside a writer of two keys', () => {
  let copy: Map<string, number>
  let cursor: string
  const read = async (limit: number) => {
    const { items, more, cursor: next }: Page = (await changes(`?limit=${limit}&since=${cursor}`)).body
    for (const { key, value } of items) copy.set(key, value)
    cursor = next
    return { keys: items.map(({ key }) => key), more }
  }
  beforeEach(async () => {
    // Without any entry, the first page would begin again with the entries.
    await put('first', 0)
    cursor = (await changes('')).body.cursor
    copy = new Map()
  })

  it('gets the first key on each page and never the second, and equals the collection once the writer rests', async () => {
    for (const value of [1, 2, 3, 4, 5]) {
      await put('a', value)
      await put('b', value)
      expect(await read(1)).toEqual({ keys: ['a'], more: true })
      expect(copy).toEqual(new Map([['a', value]]))
    }
    expect(await read(1)).toEqual({ keys: ['b'], more: false })
    expect(copy).toEqual(new Map(Object.entries({ a: 5, b: 5 })))
  })

  it('catches up with each page when limit is 2', async () => {
    for (const value of [1, 2, 3]) {
      await put('a', value)
      await put('b', value)
      expect(await read(2)).toEqual({ keys: ['a', 'b'], more: false })
      expect(copy).toEqual(new Map(Object.entries({ a: value, b: value })))
    }
  })
})
