import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { expectBytes, expectSame, startStorage } from '../storage/exact.ts'
import { few, named, parsedOtherwise, values } from '../storage/values.ts'
import { mintAppServer, mintMember } from '../support/app-server.ts'
import { expectRefusal } from '../support/refusal.ts'
import type { Call } from '../support/request.ts'
import { times } from '../support/rounds.ts'
import { startedAround, useWorld } from '../support/started.ts'
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
const storedValues = async () => Object.fromEntries((await stored()).map(({ key, value }) => [key, value]))
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
    expect(await storedValues()).toEqual({ a: '3' })
    const { etag } = reply.body.results[3]
    const twice = await batch([put('a', 4, { ifMatch: etag }), put('a', 5, { ifMatch: etag })])
    expectRefusal(twice, 412, 'precondition_failed', 'Operation 1: This entry has changed.')
    expect(await storedValues()).toEqual({ a: '3' })
  })

  it('writes in both scopes, private entries to the member alone', async () => {
    const user = { scope: 'user' }
    await batch([put('k', 'shared'), put('k', 'own', user)])
    expect((await batch([get('k'), get('k', user)])).body.results).toMatchObject([
      { value: 'shared' },
      { value: 'own' },
    ])
    const other = { claims: { sub: await mintMember(world) } }
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
    expect((await storedValues()).k7).toBe('7')
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
    expect(await storedValues()).toEqual({ k: '2' })
  })
})

/** All values; in `npm test` without that of 9 MB. */
const own = values.filter(([, text]) => text.length < times(Number.POSITIVE_INFINITY, 1_000_000))
/** What could be taken for the fields of an operation, for its end, or for the end of the list. */
const lookalikes = named('{"value":{"value":{"value":null}}}', '"$& $1 $$"', 'white space everywhere', '256 arrays')
  .map(([, text]) => text)
  .concat('"},{\\"value\\":1}]"', '[{"op":"delete","value":[{"value":{}}]}]', '{"operations":[{"value":1}]}')

describe('a value in a batch', () => {
  const storage = startedAround(startStorage)

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

describe('a batch with an Idempotency-Key', () => {
  const at = (key: string) => ({ collection: 'c', key })
  const put = (key: string, value: unknown, more: object = {}) => ({ op: 'put', ...at(key), value, ...more })
  const get = (key: string) => ({ op: 'get', ...at(key) })
  const remove = (key: string, more: object = {}) => ({ op: 'delete', ...at(key), ...more })
  const send = (idempotencyKey: string, operations: object[], more: Call = {}) =>
    world.call('POST', '/batch', { body: { operations }, headers: { 'idempotency-key': idempotencyKey }, ...more })
  const changes = () => world.db.storageChange.count({ where: { clubId: world.ids.club } })
  const valueAt = async (key: string) => (await world.call('GET', `/storage/c/${key}`)).body.value

  it('that is repeated gets the first answer, and is applied once, whatever was written since', async () => {
    const [key, a, b] = [randomUUID(), randomUUID(), randomUUID()]
    await world.call('PUT', `/storage/c/${b}`, { body: { value: 0 } })
    const operations = [put(a, 1, { ifNoneMatch: '*' }), remove(b), remove(b), put(a, 2)]
    const first = await send(key, operations)
    expect(first).toMatchObject({ status: 200, body: { results: [{}, { deleted: true }, { deleted: false }, {}] } })
    const count = await changes()
    const again = async () => {
      const { status, text, headers } = await send(key, operations)
      expect([status, text]).toEqual([200, first.text])
      expect(headers['x-storage-used']).toBe(first.headers['x-storage-used'])
    }
    await again()
    expect(await changes()).toBe(count)
    await world.call('PUT', `/storage/c/${a}`, { body: { value: 'of another' } })
    await world.call('PUT', `/storage/c/${b}`, { body: { value: 'of another' } })
    await again()
    expect([await valueAt(a), await valueAt(b)]).toEqual(['of another', 'of another'])
  })

  it('reads again what it reads, as no value is stored with the key', async () => {
    const [key, a, b] = [randomUUID(), randomUUID(), randomUUID()]
    await world.call('PUT', `/storage/c/${a}`, { body: { value: 'x'.repeat(2_000_000) } })
    const operations = [get(a), put(b, 1), get('none'), get(b)]
    const first = await send(key, operations)
    expect(first.body.results).toMatchObject([{ key: a }, {}, { missing: true }, { value: 1 }])
    expect((await send(key, operations)).text).toBe(first.text)
    await world.call('PUT', `/storage/c/${a}`, { body: { value: 'new' } })
    const { results } = (await send(key, operations)).body
    expect(results).toEqual([{ ...first.body.results[0], ...results[0], value: 'new' }, ...first.body.results.slice(1)])
    expect(results[0].etag).not.toBe(first.body.results[0].etag)
  })

  it.each<[string, (a: string) => object[]]>([
    ['another value', (a) => [put(a, 2), remove('x')]],
    ['another order', (a) => [remove('x'), put(a, 1)]],
    ['one operation fewer', (a) => [put(a, 1)]],
    ['a precondition more', (a) => [put(a, 1, { ifMatch: '*' }), remove('x')]],
    ['another scope', (a) => [put(a, 1, { scope: 'user' }), remove('x')]],
  ])('that comes again with %s is 409 idempotency_mismatch, and nothing changes', async (_, other) => {
    const [key, a] = [randomUUID(), randomUUID()]
    await send(key, [put(a, 1), remove('x')])
    const count = await changes()
    const refused = await send(key, other(a))
    expectRefusal(
      refused,
      409,
      'conflict',
      'This Idempotency-Key was already used with a different body.',
      'idempotency_mismatch',
    )
    expect(await changes()).toBe(count)
  })

  it('has one key with PUT and DELETE of the storage', async () => {
    const [key, a] = [randomUUID(), randomUUID()]
    const headers = { 'idempotency-key': key }
    expect((await world.call('PUT', `/storage/c/${a}`, { body: { value: 1 }, headers })).status).toBe(200)
    expect((await send(key, [put(a, 1)])).status).toBe(409)
  })

  it('that is refused uses up no key', async () => {
    const [key, a] = [randomUUID(), randomUUID()]
    const refused = await send(key, [put('other', 1), put(a, 1, { ifMatch: '*' })])
    expect(refused).toMatchObject({ status: 412, body: { error: { message: 'Operation 1: This entry has changed.' } } })
    expect((await send(key, [put(a, 2)])).status).toBe(200)
  })

  it('is 400 with a key of another form, and nothing changes', async () => {
    const count = await changes()
    expectRefusal(
      await send('a b', [put('k', 1)]),
      ...([400, 'invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.'] as const),
    )
    expect(await changes()).toBe(count)
  })

  it('of the app itself counts once, apart from those of members, and no rule binds it', async () => {
    const server = await mintAppServer(world)
    await world.db.collectionRule.create({ data: { appId: server.app, collection: 'c', rule: 'app' } })
    const key = randomUUID()
    const first = await send(key, [put('k', 1)], { claims: server.claims })
    expect(first.status).toBe(200)
    expect((await send(key, [put('k', 1)], { claims: server.claims })).text).toBe(first.text)
    const asMember = { claims: { client_id: server.client } }
    expect((await send(key, [put('k', 1)], asMember)).status).toBe(403)
    expect((await send(key, [put('k', 2)], { claims: server.claims })).status).toBe(409)
    const rows = await world.db.storageRequest.findMany({ where: { appId: server.app }, select: { memberId: true } })
    expect(rows).toEqual([{ memberId: '' }])
  })

  it('over tRPC takes the key as a field', async () => {
    const [key, a] = [randomUUID(), randomUUID()]
    const headers = { authorization: `Bearer ${await world.token()}` }
    const call = (value: number) =>
      world.internal('POST', '/trpc/storage.batch', {
        headers,
        body: { idempotencyKey: key, operations: [{ op: 'put', ...at(a), value }] },
      })
    const first = await call(1)
    expect(first.status).toBe(200)
    expect((await call(1)).text).toBe(first.text)
    expect(await call(2)).toMatchObject({ status: 409 })
    const single = (method: 'put' | 'delete', more: object) =>
      world.internal('POST', `/trpc/storage.${method}`, {
        headers,
        body: { ...at(a), idempotencyKey: `${method}-${key}`, ...more },
      })
    const stored = await single('put', { value: 3 })
    expect((await single('put', { value: 3 })).text).toBe(stored.text)
    expect((await single('delete', {})).status).toBe(200)
    expect((await single('delete', {})).status).toBe(200)
  })
})
