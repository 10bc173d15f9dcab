import { beforeEach, describe, expect, it } from 'vitest'
import {
  createCaller,
  listEntries,
  readCounters,
  sumEntries,
  tenantsOfEach,
  testCore,
  twoPools,
} from '../storage/tenants.ts'
import { meanwhile } from '../support/meanwhile.ts'
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
  [field: string]: unknown
}

const batch = (operations: readonly Given[], headers: Record<string, string> = {}) =>
  world.call('POST', '/batch', {
    body: { operations: operations.map((one) => ({ collection, key: 'k', ...one })) },
    headers,
  })
const raw = (operation: string) =>
  world.call('POST', '/batch', { body: `{"operations":[{"collection":"${collection}","key":"k",${operation}}]}` })
const add = (pointer: string, value: unknown, more: object = {}) => ({ op: 'add', pointer, value, ...more })
const merge = (value: unknown, more: object = {}) => ({ op: 'merge', value, ...more })
const store = (text: string) => world.call('PUT', `/storage/${collection}/k`, { body: `{"value":${text}}` })

const stored = async () => {
  const where = { appId: world.ids.app, collection }
  const [entry] = await world.db.storageEntry.findMany({ where, select: { value: true, version: true } })
  return entry
}
const usedBytes = async () => {
  const of = { appId: world.ids.app, clubId: world.ids.club }
  return (await world.db.storageUsage.findUniqueOrThrow({ where: { of } })).bytes
}

describe('merge and add', () => {
  it('change what they name, and keep the rest of the text byte for byte', async () => {
    await store('{ "n" : 1.50 , "big":9007199254740993, "a":{"b":[ 1 ]} }')
    const reply = await raw('"op":"merge","value":{"a":{"c":1e2},"d":"\\u0041"}')
    expect(reply).toMatchObject({ status: 200, body: { results: [{ updatedAt: expect.any(Number) }] } })
    expect((await raw('"op":"add","pointer":"/n","value":0.25')).status).toBe(200)
    expect(await stored()).toMatchObject({
      value: '{ "n" : 1.75 , "big":9007199254740993, "a":{"b":[ 1 ],"c":1e2},"d":"\\u0041" }',
    })
  })

  it('see what the operations before them have done, and count for usage, changes and ETag as a put', async () => {
    const { body, headers } = await batch([
      { op: 'put', value: { n: 1 } },
      add('/n', 2),
      { op: 'delete' },
      merge({ m: 1, absent: null }),
      add('/m', 41),
      { op: 'get' },
    ])
    const { version, value } = (await stored())!
    expect(value).toBe('{"m":42}')
    expect(body.results[5]).toMatchObject({ value: { m: 42 }, etag: `"${version}"` })
    expect(body.results[4]).toEqual({ etag: `"${version}"`, updatedAt: body.results[5].updatedAt })
    expect(headers['x-storage-used']).toBe(String(await usedBytes()))
    const changes = await world.call('GET', `/collections/${collection}/changes`)
    expect(changes.body.items).toMatchObject([{ key: 'k', value: { m: 42 } }])
  })

  it('are applied once with an Idempotency-Key, also where they would be refused now', async () => {
    await store('{"n":1}')
    const key = { 'idempotency-key': collection }
    const first = await batch([add('/n', 1), merge({ a: 1 })], key)
    await store('"no number"')
    expect((await batch([add('/n', 1), merge({ a: 1 })], key)).body).toEqual(first.body)
    expect(await stored()).toMatchObject({ value: '"no number"' })
    for (const others of [
      [add('/n', 2), merge({ a: 1 })],
      [add('/m', 1), merge({ a: 1 })],
      [add('/n', 1), merge({ a: 2 })],
      [add('/n', 1), { op: 'put', value: { a: 1 } }],
    ]) {
      expect((await batch(others, key)).status).toBe(409)
    }
    expect(await stored()).toMatchObject({ value: '"no number"' })
  })

  it('take pointers with NUL and lone surrogates, and tell these apart under an Idempotency-Key', async () => {
    await store('{"\\u0000":1,"\\ud800":1,"\\ud801":5}')
    expect((await batch([add('/\0', 1)])).status).toBe(200)
    const key = { 'idempotency-key': collection }
    const first = await batch([add('/\ud800', 1)], key)
    expect(first).toMatchObject({ status: 200 })
    expect((await batch([add('/\ud800', 1)], key)).body).toEqual(first.body)
    const message = 'This Idempotency-Key was already used with a different body.'
    for (const pointer of ['/\ud801', '/\ufffd', '/\\ud800']) {
      expectRefusal(await batch([add(pointer, 1)], key), 409, 'conflict', message, 'idempotency_mismatch')
    }
    expect(await stored()).toMatchObject({ value: '{"\\u0000":2,"\\ud800":2,"\\ud801":5}' })
  })

  it('obey If-Match and If-None-Match before they look at the value', async () => {
    const { etag } = (await store('{"n":1}')).headers
    expect((await batch([add('/n', 1, { ifMatch: etag })])).status).toBe(200)
    for (const more of [{ ifMatch: etag }, { ifNoneMatch: '*' }]) {
      expectRefusal(
        await batch([add('/absent', 1, more)]),
        412,
        'precondition_failed',
        'Operation 0: This entry has changed.',
      )
    }
    expect(await stored()).toMatchObject({ value: '{"n":2}' })
  })

  it.each([
    [
      'add to an absent entry',
      undefined,
      add('/n', 1),
      'add takes a number, and an entry with a number at its pointer.',
    ],
    ['add to a text', '{"n":"1"}', add('/n', 1), 'add takes a number, and an entry with a number at its pointer.'],
    ['add of a text', '{"n":1}', add('/n', '1'), 'add takes a number, and an entry with a number at its pointer.'],
    ['add at a name twice', '{"n":1,"n":2}', add('/n', 1), 'An object has a name twice that the operation changes.'],
    [
      'add of 41 digits',
      '{"n":1}',
      add('/n', 1e-41),
      'Numbers and sums have at most 40 digits, and exponents from -40 to 40.',
    ],
    [
      'merge of a list',
      '{"n":1}',
      merge([1]),
      'merge takes an object, and an entry that is an object or does not exist.',
    ],
    ['merge into a list', '[1]', merge({}), 'merge takes an object, and an entry that is an object or does not exist.'],
    [
      'add without a pointer',
      '1',
      { op: 'add', value: 1 },
      'add has a JSON pointer of at most 1024 characters, as /points; no other operation has one.',
    ],
    [
      'add with another pointer',
      '{"n":1}',
      add('n', 1),
      'add has a JSON pointer of at most 1024 characters, as /points; no other operation has one.',
    ],
    [
      'add with a pointer of 1025 characters',
      '{"n":1}',
      add(`/${'n'.repeat(1024)}`, 1),
      'add has a JSON pointer of at most 1024 characters, as /points; no other operation has one.',
    ],
    [
      'merge with a pointer',
      '{"n":1}',
      merge({}, { pointer: '/n' }),
      'add has a JSON pointer of at most 1024 characters, as /points; no other operation has one.',
    ],
    ['add without a value', '{"n":1}', { op: 'add', pointer: '/n' }, 'value is missing.'],
  ] as const)('%s is 400 and changes nothing', async (_, text, operation, message) => {
    if (text !== undefined) await store(text)
    const before = await stored()
    const reply = await batch([{ op: 'put', key: 'other', value: 1 }, operation])
    expectRefusal(reply, 400, 'invalid_request', `Operation 1: ${message}`)
    expect(await stored()).toEqual(before)
  })

  it('of more than 1 MiB together are 413 and change nothing', async () => {
    await store(JSON.stringify({ n: 1, text: 'x'.repeat(600_000) }))
    const before = await stored()
    const message = 'What merge and add read and write is larger than 1 MiB together.'
    expectRefusal(await batch([add('/n', 1)]), 413, 'invalid_request', message)
    expectRefusal(await batch([merge({ more: 'x'.repeat(600_000) })]), 413, 'invalid_request', message)
    expect(await stored()).toEqual(before)
  })

  it.each([{}, { 'idempotency-key': 'first' }])(
    'are refused after the operations before them, with %j',
    async (headers) => {
      await store('{"n":"text"}')
      const before = await stored()
      const isStale = { ifMatch: '"stale"' }
      const get = { op: 'get', ...isStale }
      const invalid = add('/n', 1)
      const large = merge({ more: 'x'.repeat(1_100_000) })
      for (const [operations, index] of [
        [[get, merge({}, isStale)], 0],
        [[get, invalid], 0],
        [[get, large], 0],
        [[merge({}), add('/n', 1, isStale)], 1],
        [[{ op: 'delete' }, merge({ n: 1 }), { op: 'put', value: 1, ifNoneMatch: '*' }, invalid, large], 2],
      ] as const) {
        const message = `Operation ${index}: This entry has changed.`
        expectRefusal(await batch(operations, headers), 412, 'precondition_failed', message)
      }
      for (const operations of [
        [merge({ a: 1 }), invalid, get],
        [merge({ a: 1 }), invalid, large],
      ]) {
        const message = 'Operation 1: add takes a number, and an entry with a number at its pointer.'
        expectRefusal(await batch(operations, headers), 400, 'invalid_request', message)
      }
      expect((await batch([large, get], headers)).status).toBe(413)
      expect(await stored()).toEqual(before)
    },
  )

  it('are 409 with the Idempotency-Key of another request before they are 400 or 413', async () => {
    const key = { 'idempotency-key': collection }
    await batch([merge({})], key)
    for (const edit of [add('/n', 1), merge({ more: 'x'.repeat(1_100_000) })])
      expect((await batch([edit], key)).status).toBe(409)
  })

  it('count what an entry holds once for each of them, and not what an operation before replaces', async () => {
    await store(JSON.stringify({ n: 1, text: 'x'.repeat(250_000) }))
    expect((await batch([add('/n', 1), add('/n', 1)])).status).toBe(200)
    await store(JSON.stringify('x'.repeat(1_100_000)))
    expect((await batch([{ op: 'put', value: { n: 1 } }, add('/n', 1), merge({}, { key: 'other' })])).status).toBe(200)
  })

  it.each([
    ['what merge names, though it adds nothing', Array(2).fill(merge({ ['x'.repeat(600_000)]: null }))],
    [
      'what each of them finds, made by the operations before',
      [{ op: 'put', value: { n: 1, text: 'x'.repeat(100_000) } }, ...Array(6).fill(add('/n', 1))],
    ],
  ])('count %s', async (_, operations) => {
    expect((await batch(operations)).status).toBe(413)
    expect(await stored()).toBeUndefined()
  })
})

const { db, other } = twoPools({ deadlock_timeout: '20ms' })
const tenants = tenantsOfEach(db)

describe('counters of two nodes', () => {
  const address = { collection: 'c', key: 'counter', scope: 'org' as const }
  it('lose no addition: 20 writers need 20 requests, half of them with a key', async () => {
    const nodes = [testCore(db), testCore(other)]
    await createCaller(nodes[0]!, tenants, 0, 0, 0).storage.put({ ...address, value: { n: 0, by: {} } })
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        createCaller(nodes[n % 2]!, tenants, 0, 0, n % 2).storage.batch({
          idempotencyKey: n < 10 ? `writer${n}` : undefined,
          operations: [
            { op: 'add', ...address, pointer: '/n', value: 0.1 },
            { op: 'merge', ...address, value: { by: { [`writer${n}`]: n } } },
          ],
        }),
      ),
    )
    const { value } = await createCaller(nodes[0]!, tenants, 0, 0, 0).storage.get(address)
    expect(value).toEqual({ n: 2, by: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`writer${n}`, n])) })
    expect(await readCounters(db, tenants)).toEqual(sumEntries(await listEntries(db, tenants)))
  })

  it('begin again where another node removes the entry meanwhile', async () => {
    const { apps, clubs } = tenants
    const { storage } = createCaller(testCore(db), tenants, 0, 0, 0)
    await storage.put({ ...address, value: { before: 1 } })
    await meanwhile(
      other,
      (tx) => tx.$executeRaw`SELECT FROM storage_delete(${apps[0]}, ${clubs[0]}, '', 'c', 'counter', null, null, null)`,
      () => storage.batch({ operations: [{ op: 'merge', ...address, value: { n: 1 } }] }),
    )
    expect((await storage.get(address)).value).toEqual({ n: 1 })
  })

  it('count a key once for each app, club and member, and again after 24 hours', async () => {
    let now = Date.now()
    const core = testCore(db, () => now)
    const own = { ...address, scope: 'user' as const }
    const addOnce = async ({ storage }: ReturnType<typeof createCaller>) => {
      const operations = [{ op: 'add' as const, ...own, pointer: '', value: 1 }]
      await storage.batch({ idempotencyKey: 'of-each', operations })
      return (await storage.get(own)).value
    }
    const all: [number, number, number][] = [
      [0, 0, 0],
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ]
    const callers = all.map((of) => createCaller(core, tenants, ...of))
    for (const one of callers) {
      await one.storage.put({ ...own, value: 0 })
      expect([await addOnce(one), await addOnce(one)]).toEqual([1, 1])
    }
    now += 86_400_000
    expect(await addOnce(callers[0]!)).toBe(2)
    const [id, other] = [tenants.clients[0], { appId: tenants.apps[1], teamId: tenants.teams[1] }]
    await db.client.update({ where: { id }, data: other })
    const moved = createCaller(
      testCore(db, () => now),
      tenants,
      0,
      0,
      0,
    )
    expect(await addOnce(moved)).toBe(2)
  })

  it('apply a request with a key that arrives five times at once a single time', async () => {
    const nodes = [testCore(db), testCore(other)]
    await createCaller(nodes[0]!, tenants, 0, 0, 0).storage.put({ ...address, value: 0 })
    const replies = await Promise.all(
      Array.from({ length: 5 }, (_, n) =>
        createCaller(nodes[n % 2]!, tenants, 0, 0, 0).storage.batch({
          idempotencyKey: 'five-times',
          operations: [{ op: 'add', ...address, pointer: '', value: 1 }],
        }),
      ),
    )
    expect(new Set(replies.map((one) => JSON.stringify(one))).size).toBe(1)
    expect((await createCaller(nodes[0]!, tenants, 0, 0, 0).storage.get(address)).value).toBe(1)
  })
})
