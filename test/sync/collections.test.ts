import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { sumCollections } from '../../routers/storage/sum-retention.ts'
import { expectBytes, expectSame, startStorage } from '../storage/exact.ts'
import { createCaller, listEntries, mintTenants, openPool, testCore, write } from '../storage/tenants.ts'
import { parsedOtherwise, values } from '../storage/values.ts'
import type { Call } from '../support/request.ts'
import { times } from '../support/rounds.ts'
import { startedAround, useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
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

const entries = (query = '', options: Call = {}) => world.call('GET', `/collections/c/entries${query}`, options)
const listKeys = async (query = '') => (await entries(query)).body.items.map(({ key }: { key: string }) => key)

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
    expect(await listKeys('?scope=user')).toEqual(['own'])
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
    expect(await listKeys(`?prefix=${prefix}`)).toEqual(expected)
  })

  it('of a prefix begin after a key as well', async () => {
    expect(await listKeys('?prefix=a&after=aB')).toEqual(['a_', 'ab', 'abc', 'az'])
    expect(await listKeys('?prefix=a&after=A')).toEqual(['a', 'a-b', 'aB', 'a_', 'ab', 'abc', 'az'])
    expect(await listKeys('?prefix=a&after=b')).toEqual([])
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

const db = openPool({})

const two = [0, 1] as const

describe('every app, club, member and scope', () => {
  it('sees the collections and entries written there, and no others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 25 }), async (writes) => {
        const tenants = await mintTenants(db)
        const core = testCore(db)
        for (const { app, club, person, ...entry } of writes) {
          await createCaller(core, tenants, app, club, person).storage.put(entry)
        }
        const stored = await listEntries(db, tenants)
        for (const [app, club, person] of two.flatMap((a) => two.flatMap((c) => two.map((p) => [a, c, p] as const)))) {
          const { storage } = createCaller(core, tenants, app, club, person)
          for (const scope of ['org', 'user'] as const) {
            const own = stored.filter(
              (row) =>
                row.appId === tenants.apps[app] &&
                row.clubId === tenants.clubs[club] &&
                row.owner === (scope === 'user' ? tenants.people[person] : ''),
            )
            const { items, more } = await storage.collections({ scope })
            expect(more).toBe(false)
            const names = [...new Set(own.map(({ collection }) => collection))]
            expect(items.map(({ collection, entries, bytes }) => [collection, entries, bytes])).toEqual(
              names.map((name) => {
                const rows = own.filter(({ collection }) => collection === name)
                return [name, rows.length, rows.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0)]
              }),
            )
            for (const collection of ['scores', 'notes']) {
              const found = await storage.entries({ collection, scope })
              const rows = own.filter((row) => row.collection === collection)
              expect(found).toEqual({
                items: rows.map(({ key, value, version, updatedAt }) => ({
                  key,
                  value: JSON.parse(value),
                  etag: `"${version}"`,
                  updatedAt: Math.floor(updatedAt.getTime() / 1000),
                })),
                more: false,
              })
            }
          }
        }
      }),
      { numRuns: times(60, 6) },
    )
  })
})

describe('over REST', () => {
  const world = useWorld()

  it('another member sees what is shared, and not what a member stored for themselves', async () => {
    const other = id('person')
    const memberships = { create: { organisationId: world.ids.club } }
    await world.db.person.create({ data: { id: other, firstName: 'O', lastName: 'O', email: '', memberships } })
    await world.call('PUT', '/storage/c/shared', { body: { value: 1 } })
    await world.call('PUT', '/storage/c/own?scope=user', { body: { value: 2 } })
    const seen = async (claims: object, path: string) => {
      const { body } = await world.call('GET', path, { claims: { ...claims } })
      return body.items.map((item: { collection?: string; key?: string }) => item.collection ?? item.key)
    }
    for (const [claims, own] of [
      [{}, true],
      [{ sub: other }, false],
    ] as const) {
      expect(await seen(claims, '/collections')).toEqual(['c'])
      expect(await seen(claims, '/collections/c/entries')).toEqual(['shared'])
      expect(await seen(claims, '/collections?scope=user')).toEqual(own ? ['c'] : [])
      expect(await seen(claims, '/collections/c/entries?scope=user')).toEqual(own ? ['own'] : [])
    }
  })

  it('a member who has left, and a club that is none of theirs, are 404', async () => {
    const error = { code: 'not_found', message: 'This member does not exist in this club.' }
    const former = id('person')
    const memberships = { create: { organisationId: world.ids.club, leftAt: new Date((world.now() - 1) * 1000) } }
    await world.db.person.create({ data: { id: former, firstName: 'F', lastName: 'F', email: '', memberships } })
    for (const claims of [{ sub: former }, { organisation: id('club') }]) {
      for (const path of ['/collections', '/collections/c/entries?scope=user']) {
        expect(await world.call('GET', path, { claims })).toMatchObject({ status: 404, body: { error } })
      }
    }
  })
})

/** All values; in `npm test` without that of 9 MB. */
const own = values.filter(([, text]) => text.length < times(Number.POSITIVE_INFINITY, 1_000_000))

describe('a value', () => {
  const storage = startedAround(startStorage)

  it('is returned byte for byte on a page over REST and tRPC, as it is in the storage', async () => {
    const typed: string[] = []
    for (const [i, [, text]] of own.entries()) {
      const place = { collection: 'all', key: `v${String(i).padStart(3, '0')}`, scope: 'org' } as const
      typed.push((await storage.put(place, text)).typed)
    }
    const page = `{"items":[${typed}],"more":false}`
    expectBytes((await storage.sync('/collections/all/entries?limit=200')).bytes, page)
    const input = { collection: 'all', limit: 200 }
    expectBytes((await storage.query('storage.entries', input)).bytes, `{"result":{"data":${page}}}`)
  })

  it.each(parsedOtherwise)('is what JSON.parse returns in this process: %s', async (_, text) => {
    await storage.put({ collection: 'one', key: 'k', scope: 'user' }, text)
    const caller = callAs(storage.world.core, storage.world.principal())
    const { items } = await caller.storage.entries({ collection: 'one', scope: 'user' })
    expectSame(items[0]!.value, JSON.parse(text))
  })
})
