import { beforeEach, describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { expectRefusal } from '../support/refusal.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()
let collection: string
beforeEach(() => {
  collection = id('c')
})

interface Given {
  op: string
  key?: string
  [field: string]: unknown
}

const batch = (operations: readonly Given[], options: Parameters<typeof world.call>[2] = {}) =>
  world.call('POST', '/batch', { body: { operations: operations.map((one) => ({ collection, ...one })) }, ...options })
const put = (key: string, value: unknown, more: object = {}) => ({ op: 'put', key, value, ...more })
const get = (key: string, more: object = {}) => ({ op: 'get', key, ...more })
const remove = (key: string, more: object = {}) => ({ op: 'delete', key, ...more })

/** The entries of the collection, of all owners. */
const stored = async () => {
  const where = { appId: world.ids.app, collection }
  const rows = await world.db.storageEntry.findMany({ where, orderBy: [{ owner: 'asc' }, { key: 'asc' }] })
  return rows.map(({ key, value, version }) => ({ key, value, etag: `"${version}"` }))
}
const values = async () => Object.fromEntries((await stored()).map(({ key, value }) => [key, value]))
const usage = async () => {
  const of = { appId: world.ids.app, clubId: world.ids.club }
  return Number((await world.db.storageUsage.findUniqueOrThrow({ where: { of } })).bytes)
}

describe('POST /batch', () => {
  it('applies its operations in their order, and returns their results by index', async () => {
    await batch([put('old', 1)])
    const { status, headers, body } = await batch([
      put('a', { n: 1 }),
      get('a'),
      get('none'),
      remove('old'),
      remove('none'),
      get('old'),
    ])
    expect(status).toBe(200)
    const [{ etag, updatedAt }] = body.results
    expect(body).toEqual({
      results: [
        { etag: expect.stringMatching(/^"[0-9a-f-]{36}"$/), updatedAt: expect.any(Number) },
        { key: 'a', value: { n: 1 }, updatedAt, etag },
        { key: 'none', missing: true },
        { deleted: true },
        { deleted: false },
        { key: 'old', missing: true },
      ],
    })
    expect(await stored()).toEqual([{ key: 'a', value: '{"n":1}', etag }])
    expect((await world.call('GET', `/storage/${collection}/a`)).headers.etag).toBe(etag)
    expect([headers['x-storage-used'], headers['x-storage-limit']]).toEqual([String(await usage()), '10485760'])
  })

  it('may have a key several times: each operation sees what those before it have done', async () => {
    const reply = await batch([put('a', 1), put('a', 2), remove('a'), put('a', 3, { ifNoneMatch: '*' }), get('a')])
    expect(reply.body.results.at(-1)).toMatchObject({ value: 3, etag: reply.body.results[3].etag })
    expect(await values()).toEqual({ a: '3' })
    const { etag } = reply.body.results[3]
    const twice = await batch([put('a', 4, { ifMatch: etag }), put('a', 5, { ifMatch: etag })])
    expectRefusal(twice, 412, 'precondition_failed', 'Operation 1: This entry has changed.')
    expect(await values()).toEqual({ a: '3' })
  })

  it('writes in both scopes, private entries to the member alone', async () => {
    const user = { scope: 'user' }
    await batch([put('k', 'shared'), put('k', 'own', user)])
    expect((await batch([get('k'), get('k', user)])).body.results).toMatchObject([
      { value: 'shared' },
      { value: 'own' },
    ])
    const sub = id('person')
    await world.db.person.create({ data: { id: sub, firstName: 'N', lastName: 'N', email: '' } })
    await world.db.membership.create({ data: { organisationId: world.ids.club, personId: sub } })
    const other = { claims: { sub } }
    expect((await batch([get('k', user), remove('k', user)], other)).body.results).toEqual([
      { key: 'k', missing: true },
      { deleted: false },
    ])
    await batch([put('k', 'theirs', user)], other)
    expect((await batch([get('k', user)])).body.results).toMatchObject([{ value: 'own' }])
  })

  it('takes 25 operations, and one over tRPC as over REST', async () => {
    const many = Array.from({ length: 25 }, (_, n) => put(`k${n}`, n))
    expect((await batch(many)).body.results).toHaveLength(25)
    const { batch: local } = callAs(world.core, world.principal()).storage
    const { results } = await local({ operations: [{ op: 'get', collection, key: 'k7' }] })
    expect(results).toMatchObject([{ key: 'k7', value: 7 }])
    await expect(local({ operations: [{ op: 'get', collection, key: 'k7', ifMatch: '"x"' }] })).rejects.toMatchObject({
      status: 412,
      message: 'Operation 0: This entry has changed.',
    })
    await expect(
      local({ operations: [{ op: 'put', collection, key: 'k7', value: 1n as never }] }),
    ).rejects.toMatchObject({ status: 400, id: 'valueNotJson' })
    expect((await values()).k7).toBe('7')
  })

  it('names the member as the writer of shared entries', async () => {
    await batch([put('a', 1), put('b', 1, { scope: 'user' })])
    const where = { appId: world.ids.app, collection }
    const rows = await world.db.storageEntry.findMany({ where, orderBy: { key: 'asc' } })
    expect(rows.map(({ createdBy, updatedBy }) => [createdBy, updatedBy])).toEqual([
      [world.ids.member, world.ids.member],
      [null, null],
    ])
  })

  it('wakes those who wait for a change', async () => {
    const first = await world.call('GET', `/collections/${collection}/changes`)
    const reply = world.call('GET', `/collections/${collection}/changes?since=${first.body.cursor}&wait=50`)
    await expect.poll(() => world.longPollSlots.size).toBe(1)
    await batch([put('a', 1), put('b', 2)])
    expect((await reply).body.items.map(({ key }: { key: string }) => key)).toEqual(['a', 'b'])
  })

  it('counts once for the request limit', async () => {
    const left = ({ headers }: { headers: Record<string, unknown> }) =>
      Number(/r=(\d+)/.exec(`${headers.ratelimit}`)![1])
    const before = left(await world.call('GET', '/collections'))
    expect(left(await batch([put('a', 1), put('b', 1), get('a')]))).toBe(before - 1)
  })
})

describe('a precondition that fails', () => {
  const last = 24
  const conditions = [
    ['put with ifMatch of another version', put('k', 2, { ifMatch: '"x"' })],
    ['put with a weak ifMatch', put('k', 2, { ifMatch: 'W/*' })],
    ['put with ifNoneMatch: *', put('k', 2, { ifNoneMatch: '*' })],
    ['put of a new entry with ifMatch: *', put('new', 2, { ifMatch: '*' })],
    ['delete with ifMatch of another version', remove('k', { ifMatch: '"x"' })],
    ['delete of no entry with ifMatch: *', remove('new', { ifMatch: '*' })],
    ['get with ifMatch of another version', get('k', { ifMatch: '"x"' })],
    ['get with ifNoneMatch: *', get('k', { ifNoneMatch: '*' })],
    ['get of no entry with ifMatch: *', get('new', { ifMatch: '*' })],
  ] as const

  it.each(conditions)('at the first or last index stores nothing, and is named: %s', async (_, failing) => {
    await batch([put('k', 1)])
    const [before, used] = [await stored(), await usage()]
    const others = Array.from({ length: last }, (_, n) => (n % 2 ? put(`other${n}`, n) : remove('k2')))
    for (const [index, operations] of [
      [0, [failing, ...others]],
      [last, [...others, failing]],
    ] as const) {
      const reply = await batch(operations)
      expectRefusal(reply, 412, 'precondition_failed', `Operation ${index}: This entry has changed.`)
      expect(reply.headers).toMatchObject({ 'x-error-code': 'entryChanged', 'x-storage-used': String(used) })
      expect([await stored(), await usage()]).toEqual([before, used])
    }
  })

  it('does not, and the batch is applied', async () => {
    const [{ etag }] = (await batch([put('k', 1)])).body.results
    const reply = await batch([
      get('k', { ifMatch: etag }),
      get('none', { ifNoneMatch: '*' }),
      put('k', 2, { ifMatch: `"x", ${etag}` }),
    ])
    expect(reply.body.results).toMatchObject([{ value: 1 }, { missing: true }, { etag: expect.any(String) }])
    expect(await values()).toEqual({ k: '2' })
  })
})
