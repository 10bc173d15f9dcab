import { beforeAll, describe, expect, it } from 'vitest'
import { sumCollections } from '../../routers/storage/sum-retention.ts'
import { useWorld } from '../support/started.ts'
import { startWorld } from '../support/world.ts'

const world = useWorld()

const put = (path: string, text: string) => world.call('PUT', `/storage/${path}`, { body: `{"value":${text}}` })
const list = async (query = '') => (await world.call('GET', `/collections${query}`)).body
const names = ({ items }: { items: { collection: string }[] }) => items.map(({ collection }) => collection)

const shared = ['-', '0', 'A', 'B', 'Z', '_', '__proto__', 'a', 'aa', 'b']

describe('the collections', () => {
  beforeAll(async () => {
    for (const name of shared.toReversed()) await put(`${name}/k`, '1')
    for (const name of ['mine', 'a']) await put(`${name}/k?scope=user`, '1')
  })

  it('are in byte order, by scope', async () => {
    expect(await list()).toMatchObject({ more: false })
    expect(names(await list())).toEqual(shared)
    expect(names(await list('?scope=org'))).toEqual(shared)
    expect(names(await list('?scope=user'))).toEqual(['a', 'mine'])
  })

  it.each([1, 3, 5, 10, 11])('are each on one page of %i', async (limit) => {
    const found: string[] = []
    for (let more = true; more; ) {
      const page = await list(`?limit=${limit}${found.length > 0 ? `&after=${found.at(-1)}` : ''}`)
      expect(page.items.length).toBeLessThanOrEqual(limit)
      found.push(...names(page))
      more = page.more
    }
    expect(found).toEqual(shared)
  })

  it('begin after a name that need not exist', async () => {
    expect(names(await list('?after=Zz'))).toEqual(['_', '__proto__', 'a', 'aa', 'b'])
    expect(await list('?after=b')).toEqual({ items: [], more: false })
    expect(await list('?after=zz')).toEqual({ items: [], more: false })
  })
})

describe('a collection', () => {
  it('has the number and bytes of its entries, and the time of the last write to one that exists', async () => {
    const own = await startWorld()
    const call = (method: string, path: string, value?: unknown) =>
      own.call(method, path, value ? { body: { value } } : {})
    const first = (await call('PUT', '/storage/c/k1', 'é')).body.updatedAt
    own.advance(90)
    const second = (await call('PUT', '/storage/c/k2', [1, 2])).body.updatedAt
    const item = async () => (await call('GET', '/collections')).body.items
    expect(await item()).toEqual([{ collection: 'c', entries: 2, bytes: 4 + 5, updatedAt: second }])
    await call('DELETE', '/storage/c/k2')
    expect(await item()).toEqual([{ collection: 'c', entries: 1, bytes: 4, updatedAt: first }])
    own.advance(90)
    const third = (await call('PUT', '/storage/c/k1', 'ab')).body.updatedAt
    expect(await item()).toEqual([{ collection: 'c', entries: 1, bytes: 4, updatedAt: third }])
    await call('DELETE', '/storage/c/k1')
    expect(await item()).toEqual([])
    await own.close()
  })

  it('has the time of the entry that was written before a removed one, also once its changes are no longer stored', async () => {
    const own = await startWorld()
    const put = async (key: string) => {
      own.advance(90)
      return (await own.call('PUT', `/storage/c/${key}`, { body: { value: 1 } })).body.updatedAt
    }
    await put('k1')
    const second = await put('k2')
    for (const key of ['k3', 'k3', 'k4']) await put(key)
    for (const key of ['k3', 'k4']) await own.call('DELETE', `/storage/c/${key}`)
    const item = { collection: 'c', entries: 2, bytes: 2, updatedAt: second }
    expect((await own.call('GET', '/collections')).body.items).toEqual([item])
    await own.db.storageChange.deleteMany({ where: { appId: own.ids.app } })
    expect((await own.call('GET', '/collections')).body.items).toEqual([item])
    await own.close()
  })

  it('of the release before the sums is summed for the answer, until housekeeping does it', async () => {
    const own = await startWorld()
    const { updatedAt } = (await own.call('PUT', '/storage/c/k', { body: { value: 'é' } })).body
    const of = { appId: own.ids.app }
    await own.db.storageCollection.updateMany({ where: of, data: { bytes: null, updatedAt: null } })
    const items = [{ collection: 'c', entries: 1, bytes: 4, updatedAt }]
    expect((await own.call('GET', '/collections')).body.items).toEqual(items)
    expect(await sumCollections(own.db)).toBeGreaterThan(0)
    expect(await own.db.storageCollection.findMany({ where: of })).toMatchObject([{ bytes: 4n }])
    expect((await own.call('GET', '/collections')).body.items).toEqual(items)
    await own.close()
  })

  it('counts the bytes that the quota counts', async () => {
    const own = await startWorld()
    await own.call('PUT', '/storage/c/large', { body: { value: 'ü'.repeat(200_000) } })
    const { headers } = await own.call('PUT', '/storage/d/small', { body: '{"value": [ 1 ] }' })
    const { items } = (await own.call('GET', '/collections')).body
    expect(items.map(({ bytes }: { bytes: number }) => bytes)).toEqual([400_002, 5])
    expect(headers['x-storage-used']).toBe(String(400_002 + 5))
    await own.close()
  })
})
