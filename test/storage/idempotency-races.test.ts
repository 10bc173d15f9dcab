import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Database, Transaction } from '../../prisma/client.ts'
import { ApiError } from '../../routers/kernel/errors.ts'
import { removeOldRequests } from '../../routers/storage/request-retention.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { times } from '../support/rounds.ts'
import {
  createCaller,
  listEntries,
  mintTenants,
  readCounters,
  sumEntries,
  tenantsOfEach,
  testCore,
  twoPools,
} from './tenants.ts'

const { db, other } = twoPools({ deadlock_timeout: '20ms' })
const tenants = tenantsOfEach(db)

const at = (key: string) => ({ collection: 'c', key, scope: 'org' as const })
const api = (n = 0, now?: () => number) => createCaller(testCore(n % 2 ? other : db, now), tenants, 0, 0, 0).storage
const store = () => ({ appId: tenants.apps[0], clubId: tenants.clubs[0] })
const changes = () => db.storageChange.count({ where: store() })
const requests = () => db.storageRequest.count({ where: store() })
const each = <T>(count: number, call: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => call(n)))

/** What a call did, or the id of its refusal. */
const outcome = (call: Promise<unknown>) =>
  call.then(
    (answer) => ({ answer }),
    (error) => {
      if (!(error instanceof ApiError)) throw error
      return { refusal: error.id, headers: error.headers }
    },
  )

const lockStore = (tx: Transaction) => tx.$queryRaw`
  SELECT FROM "StorageUsage" WHERE "appId" = ${tenants.apps[0]} AND "clubId" = ${tenants.clubs[0]} FOR NO KEY UPDATE`

describe('twins', () => {
  it('at once on two nodes are written once, and all get one answer', async () => {
    for (let round = 0; round < times(50, 5); round++) {
      const value = 'x'.repeat(round)
      const put = { ...at(`k${round}`), value, ifNoneMatch: '*', idempotencyKey: `put ${round}`.replace(' ', '-') }
      const before = await changes()
      expect(new Set((await each(12, (n) => api(n).put(put))).map(({ etag }) => etag)).size).toBe(1)
      expect(await changes()).toBe(before + 1)
      const batch = {
        operations: [
          { op: 'put' as const, ...at('b'), value },
          { op: 'delete' as const, ...at(`k${round}`) },
          { op: 'get' as const, ...at('b') },
        ],
        idempotencyKey: `batch-${round}`,
      }
      const answers = await each(12, (n) => api(n).batch(batch))
      expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1)
      expect(answers[0]!.results).toMatchObject([{}, { deleted: true }, { value }])
      const remove = { ...at('b'), idempotencyKey: `delete-${round}` }
      await each(12, (n) => api(n).delete(remove))
      expect(await changes()).toBe(before + 4)
    }
  })

  it('wait together for the store, and one of them writes', async () => {
    await api().put({ ...at('first'), value: 0 })
    const put = { ...at('k'), value: 1, idempotencyKey: 'twins' }
    const answers = await meanwhile(db, lockStore, () => each(4, (n) => api(n).put(put)))
    expect(new Set(answers.map(({ etag }) => etag)).size).toBe(1)
    expect(await changes()).toBe(2)
  })

  /** As the service does. */
  const storeFirst = (tx: Transaction) => tx.$queryRaw<{ version: string }[]>`
    SELECT found_version::text AS version FROM storage_once(
      ${tenants.apps[0]}, ${tenants.clubs[0]}, ${tenants.people[0]}, '{put}', '{""}', '{c}', '{k}', '{1}', '{NULL}', '{NULL}',
      now(), 1000, 1000, ${tenants.clients[0]}, 'twin', 'PUT')`
  const twin = () => api(1).put({ ...at('k'), value: 1, idempotencyKey: 'twin' })

  it('one that comes while the first one is about to commit gets its answer', async () => {
    let version: string | undefined
    const first = async (tx: Transaction) => {
      version = (await storeFirst(tx))[0]!.version
    }
    expect((await meanwhile(db, first, twin)).etag).toBe(`"${version}"`)
    expect(await changes()).toBe(1)
  })

  it('one that comes while the first one is rolled back is written itself', async () => {
    const { etag } = await meanwhile(db, storeFirst, twin, { undo: true })
    expect(await listEntries(db, tenants)).toMatchObject([{ key: 'k', value: '1', version: etag.slice(1, -1) }])
    expect(await requests()).toBe(1)
  })
})

it('a key that comes at once with a PUT and a DELETE counts for one of them, the other is refused', async () => {
  for (let round = 0; round < times(100, 10); round++) {
    const key = `k${round}`
    await api().put({ ...at(key), value: 'old' })
    const idempotencyKey = `either-${round}`
    const calls = await each(8, (n) =>
      n % 2
        ? outcome(api(n).delete({ ...at(key), idempotencyKey }))
        : outcome(api(n >> 1).put({ ...at(key), value: 'new', idempotencyKey })),
    )
    const refused = calls.map((call) => ('refusal' in call ? call.refusal : 'done'))
    expect(refused.filter((one) => one === 'done')).toHaveLength(4)
    expect(refused.filter((one) => one === 'idempotencyMismatch')).toHaveLength(4)
    const stored = (await listEntries(db, tenants)).find((entry) => entry.key === key)?.value
    expect(stored).toBe(refused[0] === 'done' ? '"new"' : undefined)
  }
})

describe('the keys of a member in a store', () => {
  const MOST = 10_000
  const NOW = Date.parse('2026-11-20T12:00:00.500Z')
  const OLDEST = NOW - 86_400_000 + 90_000
  /** Adds requests of two clients; the oldest has 90 seconds left. */
  const addRequests = (count: number, createdAt = new Date(OLDEST), after = 0) => db.$executeRaw`
    INSERT INTO "StorageRequest"
    SELECT ${tenants.apps[0]}, ${tenants.clubs[0]}, ${tenants.people[0]}, CASE WHEN n % 2 = 0 THEN ${tenants.clients[0]} ELSE 'second' END,
      ${createdAt.getTime()} || '-' || n, 'PUT', sha256(''), '{stored}', '{NULL}', 0,
      ${after}::int + n + 1, ${createdAt}::timestamptz + n * interval '1 millisecond'
    FROM generate_series(0, ${count - 1}::int) n`

  it('are at most 10,000, however many come at once; the next one is free when the oldest expires', async () => {
    await addRequests(20, new Date(NOW - 2 * 86_400_000))
    await addRequests(MOST - 5, new Date(OLDEST), 20)
    const write = (key: string, now = NOW, n = 0) =>
      outcome(api(n, () => now).put({ ...at('k'), value: key, idempotencyKey: key }))
    const calls = await each(30, (n) => write(`new-${n}`, NOW, n))
    const refused = calls.filter((call) => 'refusal' in call)
    expect(refused).toHaveLength(25)
    expect(refused[0]).toEqual({ refusal: 'keysLimited', headers: { 'Retry-After': '90' } })
    const stored = await listEntries(db, tenants)
    expect(await write('more')).toMatchObject({ refusal: 'keysLimited' })
    expect(await listEntries(db, tenants)).toEqual(stored)

    // Known keys have their answers, writes without a key are free, and so are other members and stores.
    const known = calls.findIndex((call) => 'answer' in call)
    expect(await write(`new-${known}`)).toEqual(calls[known])
    await api().put({ ...at('k'), value: 'without' })
    for (const [club, person] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const elsewhere = createCaller(
        testCore(db, () => NOW),
        tenants,
        0,
        club,
        person,
      ).storage
      await elsewhere.put({ ...at('k'), value: 1, idempotencyKey: 'more' })
    }
    expect(await write('more', OLDEST + 86_400_000 - 1)).toMatchObject({
      refusal: 'keysLimited',
      headers: { 'Retry-After': '1' },
    })
    expect(await write('more', OLDEST + 86_400_000)).toHaveProperty('answer')
  })

  it('are removed once they have expired, a portion at a time, and no other', async () => {
    // Long ago, so that no key of another test is removed.
    const now = Date.parse('2010-05-05T12:00:00Z')
    await addRequests(12, new Date(now - 86_400_000 - 9))
    const portions = [
      await removeOldRequests(db, now, 8),
      await removeOldRequests(db, now, 8),
      await removeOldRequests(db, now),
    ]
    expect(portions).toEqual([8, 2, 0])
    const left = await db.storageRequest.findMany({
      where: store(),
      orderBy: { createdAt: 'asc' },
      select: { createdAt: true },
    })
    expect(left.map(({ createdAt }) => createdAt.getTime() - now + 86_400_000)).toEqual([1, 2])
  })
})

type Storage = ReturnType<typeof api>
const address = fc.record({
  collection: fc.constantFrom('c', 'd'),
  key: fc.constantFrom('a', 'b', 'e'),
  scope: fc.constantFrom<'org' | 'user'>('org', 'user'),
})
const preconditions = fc.constantFrom<object>({}, {}, { ifMatch: '*' }, { ifNoneMatch: '*' })
const value = fc.constantFrom(0, 'one', { two: [2] })
const put = fc.tuple(address, preconditions, value).map(([at, on, value]) => ({ ...at, ...on, value }))
const remove = fc.tuple(address, preconditions).map(([at, on]) => ({ ...at, ...on }))
const operation = fc.oneof(
  put.map((given) => ({ op: 'put' as const, ...given })),
  remove.map((given) => ({ op: 'delete' as const, ...given })),
)
type Send = (storage: Storage, key?: { idempotencyKey: string }) => Promise<unknown>
const request: fc.Arbitrary<Send> = fc.oneof(
  put.map(
    (given) =>
      (storage: Storage, key: object = {}) =>
        storage.put({ ...given, ...key }),
  ),
  remove.map(
    (given) =>
      (storage: Storage, key: object = {}) =>
        storage.delete({ ...given, ...key }),
  ),
  fc.array(operation, { minLength: 1, maxLength: 4 }).map(
    (operations) =>
      (storage: Storage, key: object = {}) =>
        storage.batch({ operations, ...key }),
  ),
)

describe('a list of requests with keys, some of which are repeated, later or at once', () => {
  it('leaves what the list without repetitions leaves, and each repetition has the first answer', async () => {
    const bare = (entries: Awaited<ReturnType<typeof listEntries>>) =>
      entries.map(({ appId, clubId, version, updatedAt, memberId, createdBy, updatedBy, owner, ...entry }) => ({
        ...entry,
        isShared: owner === '',
      }))
    const step = fc.record({ request, again: fc.option(fc.nat(), { freq: 1 }), twins: fc.integer({ min: 1, max: 3 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 20 }), async (steps) => {
        const [own, plain] = [await mintTenants(db), await mintTenants(db)]
        const nodes = [db, other].map((pool) => createCaller(testCore(pool), own, 0, 0, 0).storage)
        const bareStorage = createCaller(testCore(db), plain, 0, 0, 0).storage
        const sent: Send[] = []
        const answers = new Map<number, unknown>()
        for (const { request, again, twins } of steps) {
          const index = again === null || sent.length === 0 ? sent.length : again % sent.length
          sent[index] ??= request
          const key = { idempotencyKey: `request-${index}` }
          const calls = await each(twins, (n) => outcome(sent[index]!(nodes[n % 2]!, key)))
          const first = answers.get(index)
          if (first !== undefined) expect(calls).toEqual(calls.map(() => first))
          else {
            const expected = await outcome(sent[index]!(bareStorage))
            const stripped = (one: object) =>
              JSON.stringify(one, (name, it) => (/etag|updatedAt/.test(name) ? undefined : it))
            expect(calls.map(stripped)).toEqual(calls.map(() => stripped(expected)))
            if ('answer' in calls[0]!) {
              expect(calls).toEqual(calls.map(() => calls[0]))
              answers.set(index, calls[0])
            }
          }
        }
        const stored = await listEntries(db, own)
        expect(bare(stored)).toEqual(bare(await listEntries(db, plain)))
        expect(await readCounters(db, own)).toEqual(sumEntries(stored))
      }),
      { numRuns: times(300, 15) },
    )
  })
})

it('a request without a key sends the statements that it sent before keys', async () => {
  const names: string[] = []
  const execute: Database['execute'] = (statement, values) => {
    names.push(statement.name)
    return db.execute(statement, values)
  }
  const counted = new Proxy(db, {
    get: (target, name) => (name === 'execute' ? execute : Reflect.get(target, name, target)),
  })
  const { storage } = createCaller(testCore(counted), tenants, 0, 0, 0)
  const sentBy = async (call: () => Promise<unknown>) => {
    names.length = 0
    await call()
    return names.filter((name) => !name.startsWith('access'))
  }
  const operations = [{ op: 'put' as const, ...at('k'), value: 1 }]
  expect(await sentBy(() => storage.put({ ...at('k'), value: 1 }))).toEqual(['storage_write'])
  expect(await sentBy(() => storage.delete(at('k')))).toEqual(['storage_delete'])
  expect(await sentBy(() => storage.batch({ operations }))).toEqual(['sync_batch'])
  expect(await sentBy(() => storage.put({ ...at('k'), value: 1, idempotencyKey: 'k' }))).toEqual(['storage_once'])
  expect(await sentBy(() => storage.put({ ...at('k'), value: 1, idempotencyKey: 'k' }))).toEqual(['storage_once'])
  expect(await requests()).toBe(1)
})
