import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { erase } from '../../server/admin/storage-owners.ts'
import { createCaller, mintTenants, openPool, testCore } from '../storage/tenants.ts'
import { mintMember } from '../support/app-server.ts'
import { expireCursors } from '../support/expired-cursors.ts'
import { expectRefusal } from '../support/refusal.ts'
import type { Reply } from '../support/request.ts'
import { times } from '../support/rounds.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()
let collection: string
beforeEach(() => {
  collection = id('c')
})

const changes = (query = '', options: Parameters<typeof world.call>[2] = {}) =>
  world.call('GET', `/collections/${collection}/changes${query}`, options)
const since = ({ body }: Reply, more = '') => `?since=${body.cursor}${more}`
const put = async (key: string, value: unknown, scope = 'org') => {
  const reply = await world.call('PUT', `/storage/${collection}/${key}?scope=${scope}`, { body: { value } })
  expect(reply.status).toBe(200)
  return reply.headers.etag
}
const remove = (key: string) => world.call('DELETE', `/storage/${collection}/${key}`)
/** Once so many calls wait for a change. */
const waiting = (count: number) => expect.poll(() => world.longPollSlots.size).toBe(count)

describe('GET /collections/{collection}/changes', () => {
  it('returns all entries, then what has changed, with ETags and values byte for byte', async () => {
    const etag = await put('a', { n: 1 })
    const first = await changes()
    expect(first.text).toContain('"value":{"n":1},')
    expect(first.body).toEqual({
      items: [{ key: 'a', value: { n: 1 }, updatedAt: expect.any(Number), etag }],
      cursor: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
      more: false,
    })
    const value = '{"b":1.0, "b":"\\u0000",\n"a":1e400}'
    await world.call('PUT', `/storage/${collection}/b`, { body: `{"value":${value}}` })
    await remove('a')
    const second = await changes(since(first))
    expect(second.body.items.map(({ key, deleted }: { key: string; deleted?: true }) => [key, deleted])).toEqual([
      ['b', undefined],
      ['a', true],
    ])
    expect(second.text).toContain(`"value":${value},`)
    expect((await changes(since(second))).body).toMatchObject({ items: [], more: false })
  })

  it('comes in pages', async () => {
    for (const key of ['a', 'b', 'c']) await put(key, 1)
    const first = await changes('?limit=2')
    expect([first.body.items.length, first.body.more]).toEqual([2, true])
    const second = await changes(since(first, '&limit=2'))
    expect([second.body.items.length, second.body.more]).toEqual([1, false])
  })

  it('shows private entries to their member alone', async () => {
    const first = await changes('?scope=user')
    await put('own', 1, 'user')
    expect((await changes(since(first, '&scope=user'))).body.items).toMatchObject([{ key: 'own' }])
    expect((await changes()).body.items).toEqual([])
    const claims = { sub: await mintMember(world) }
    expect((await changes('?scope=user', { claims })).body.items).toEqual([])
    expectRefusal(await changes(since(first, '&scope=user'), { claims }), 400, 'invalid_request', WRONG)
  })

  it('refuses cursors of another collection or scope, altered and invented ones', async () => {
    await put('a', 1)
    const { cursor } = (await changes()).body
    for (const query of [`?since=${cursor}&scope=user`, `?since=${cursor.slice(1)}`, '?since=-1', '?since=MA']) {
      expectRefusal(await changes(query), 400, 'invalid_request', WRONG)
    }
    collection = id('other')
    expectRefusal(await changes(`?since=${cursor}`), 400, 'invalid_request', WRONG)
  })

  it('refuses the cursor of another member, also of a shared collection', async () => {
    await put('a', 1)
    const first = await changes()
    const claims = { sub: await mintMember(world) }
    expectRefusal(await changes(since(first), { claims }), 400, 'invalid_request', WRONG)
    expect((await changes('', { claims })).body.items).toMatchObject([{ key: 'a' }])
    expect((await changes(since(first))).body.items).toEqual([])
  })

  it('continues after a cursor of a release before December 2026', async () => {
    await put('a', 1)
    const { app: appId, club: clubId } = world.ids
    const { changes: last } = await world.db.storageUsage.findUniqueOrThrow({ where: { of: { appId, clubId } } })
    const text = JSON.stringify([appId, clubId, '', collection, `${last}`])
    const [mark] = world.core.cipher.computeMarks(text, 'changes cursor')
    await put('b', 1)
    const stored = Buffer.from(`${mark}.${last}`).toString('base64url')
    expect((await changes(`?since=${stored}`)).body.items).toMatchObject([{ key: 'b' }])
  })

  it.each(['-1', '51', '1.5', 'x', ''])('refuses to wait %j seconds', async (wait) => {
    expectRefusal(await changes(`?wait=${wait}`), 422, 'invalid_request', 'wait is 0 to 50 seconds.')
  })

  it('returns 410 once changes after the cursor are no longer stored', async () => {
    await put('a', 1)
    const first = await changes()
    await put('b', 1)
    await expireCursors(world.db, world.ids)
    const reply = await changes(since(first))
    expectRefusal(reply, 410, 'cursor_expired', 'This cursor has expired. Begin again without since.')
    expect((await changes()).body.items).toHaveLength(2)
  })
})

describe('a request that waits', () => {
  it('returns the first change of its collection, and sleeps through those of others', async () => {
    const first = await changes()
    const reply = changes(since(first, '&wait=50'))
    await waiting(1)
    await world.call('PUT', `/storage/${id('other')}/k`, { body: { value: 1 } })
    await put('a', 1)
    expect((await reply).body.items).toMatchObject([{ key: 'a', value: 1 }])
  })

  it('returns at once what there is already', async () => {
    await put('a', 1)
    expect((await changes('?wait=50')).body.items).toHaveLength(1)
  })

  it('returns a change that another hand has made', async () => {
    await put('a', 1)
    const reply = changes(since(await changes(), '&wait=50'))
    await waiting(1)
    await world.db.storageEntry.updateMany({ where: { appId: world.ids.app, collection }, data: { value: '2' } })
    expect((await reply).body.items).toMatchObject([{ key: 'a', value: 2 }])
  })

  it('returns an empty page when the time is over', async () => {
    const first = await changes()
    const reply = await changes(since(first, '&wait=1'))
    expect(reply.body).toMatchObject({ items: [], more: false })
    await put('a', 1)
    expect((await changes(since(reply))).body.items).toHaveLength(1)
  })

  it('is refused when its member has left meanwhile', async () => {
    const { db, ids } = world
    const sub = await mintMember(world)
    const claims = { sub }
    const first = await changes('', { claims })
    const reply = changes(since(first, '&wait=50'), { claims })
    await waiting(1)
    await db.membership.delete({ where: { of: { organisationId: ids.club, personId: sub } } })
    // What has been looked up is believed for 4 s.
    world.advance(5)
    await put('secret', 1)
    expectRefusal(await reply, 404, 'not_found', 'This member does not exist in this club.')
  })

  it('is refused when its member has left, without a change', async () => {
    const sub = await mintMember(world)
    const claims = { sub }
    const reply = changes(since(await changes('', { claims }), '&wait=50'), { claims })
    await waiting(1)
    await world.db.membership.delete({ where: { of: { organisationId: world.ids.club, personId: sub } } })
    // What has been looked up is believed for 4 s.
    world.advance(5)
    await world.core.accessWatch.check()
    expectRefusal(await reply, 404, 'not_found', 'This member does not exist in this club.')
    await waiting(0)
  })

  it.each([
    ['by the watch', () => world.core.accessWatch.check()],
    ['by a change, which it does not get', () => put('late', 1)],
  ])('is 401 when its token has expired meanwhile, %s', async (_, wake) => {
    const claims = { exp: world.now() + 60 }
    const reply = changes(since(await changes(), '&wait=50'), { claims })
    await waiting(1)
    world.advance(61)
    await wake()
    expectRefusal(await reply, 401, 'invalid_token', 'This token has expired.')
    await waiting(0)
  })

  it('is 410 when its store is erased, without a later write', async () => {
    await put('a', 1)
    const first = await changes()
    const reply = changes(since(first, '&wait=50'))
    await waiting(1)
    const { app, club } = world.ids
    await erase(world.db, { app, club })
    world.core.watch.wakeHere({ app, club })
    expectRefusal(await reply, 410, 'cursor_expired', 'This cursor has expired. Begin again without since.')
  })

  it('is one of five of its member and app', async () => {
    const query = since(await changes(), '&wait=50')
    const replies = [1, 2, 3, 4, 5].map(() => changes(query))
    await waiting(5)
    const refused = await changes(query)
    const message = 'Too many requests of this member, app or team already wait for changes.'
    expectRefusal(refused, 429, 'rate_limited', message)
    await put('a', 1)
    for (const reply of replies) expect((await reply).body.items).toHaveLength(1)
    await waiting(0)
  })
})

const WRONG = 'since is not a cursor of this collection.'

const db = openPool({})

/** Few, so that many are on the edge of a page. */
const key = fc.stringMatching(/^[AZa_-][09a]?$/)

const plan = fc.record({
  untouched: fc.uniqueArray(key, { maxLength: 20 }),
  written: fc.uniqueArray(key, { minLength: 1, maxLength: 10 }),
  limit: fc.integer({ min: 1, max: 6 }),
  prefix: fc.constantFrom(undefined, undefined, 'a', 'A'),
  values: fc.boolean(),
  /** The rounds of the page with this number. */
  rounds: fc.array(
    fc.array(fc.record({ index: fc.nat(), does: fc.constantFrom('put' as const, 'delete' as const) }), {
      maxLength: 4,
    }),
    { minLength: 1, maxLength: 5 },
  ),
})

describe('a reader of all pages, beside writers of other keys', () => {
  it('sees each entry that nobody writes exactly once, all in order, and none that never was', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ untouched, written, limit, prefix, values, rounds }) => {
        const tenants = await mintTenants(db)
        const { storage } = createCaller(testCore(db), tenants, 0, 0, 0)
        const changing = written.filter((name) => !untouched.includes(name))
        const put = (name: string) => storage.put({ collection: 'c', key: name, value: name })
        for (const name of [...untouched, ...changing]) await put(name)

        const write = async (index: number, does: 'put' | 'delete') => {
          const name = changing[index % changing.length]
          if (name === undefined) return
          if (does === 'put') await put(name)
          // Another of the round may have deleted it.
          else await storage.delete({ collection: 'c', key: name }).catch(({ status }) => expect(status).toBe(404))
        }
        const seen: { key: string; value?: unknown }[] = []
        let more = true
        for (let page = 0; more; page++) {
          const after = seen.at(-1)?.key
          const asked = { collection: 'c', limit, prefix, values, ...(after !== undefined && { after }) }
          const round = rounds[page % rounds.length]!
          // While the page is read, and before the next one.
          const [read] = await Promise.all([
            storage.entries(asked),
            ...round.slice(0, 2).map(({ index, does }) => write(index, does)),
          ])
          for (const { index, does } of round.slice(2)) await write(index, does)
          expect(read.items.length).toBeLessThanOrEqual(limit)
          if (read.more) expect(read.items).toHaveLength(limit)
          seen.push(...read.items)
          more = read.more
        }
        const keys = seen.map((item) => item.key)
        expect(keys).toEqual([...new Set(keys)].sort())
        const wanted = untouched.filter((name) => name.startsWith(prefix ?? '')).sort()
        expect(keys.filter((name) => untouched.includes(name))).toEqual(wanted)
        for (const { key, value } of seen) {
          expect([...untouched, ...changing]).toContain(key)
          expect(key.startsWith(prefix ?? '')).toBe(true)
          expect(value).toBe(values ? key : undefined)
        }
      }),
      { numRuns: times(200, 30) },
    )
  })
})

/** What docs/sync.md says of a `limit` below the number of keys that are written between two pages. */
describe('a reader with limit=1 beside a writer of two keys', () => {
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
