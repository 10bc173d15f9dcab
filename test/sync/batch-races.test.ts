import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { sqlState } from '../../routers/kernel/database-errors.ts'
import { ApiError } from '../../routers/kernel/errors.ts'
import type { Json } from '../../routers/kernel/json.ts'
import { createReplica, storedState } from '../storage/replica.ts'
import type { Tenants } from '../storage/tenants.ts'
import {
  createCaller,
  listEntries,
  mintTenants,
  openPool,
  readCounters,
  readTallyRows,
  sumEntries,
  tallyEntries,
  tenantsOfEach,
  testCore,
  twoPools,
} from '../storage/tenants.ts'
import { times } from '../support/rounds.ts'

const { db, other } = twoPools({ deadlock_timeout: '20ms' })
const tenants = tenantsOfEach(db)

const address = (key: string) => ({ collection: 'c', key, scope: 'org' as const })
const keys = ['a', 'b', 'c']
const put = (key: string, value: number) => ({ op: 'put' as const, ...address(key), value })
const get = (key: string) => ({ op: 'get' as const, ...address(key) })
const remove = (key: string) => ({ op: 'delete' as const, ...address(key) })
const reversed = <T>(items: readonly T[], n: number) => (n % 2 ? [...items].reverse() : [...items])

describe('batches of two nodes beside single writers', () => {
  it('are seen whole or not at all, and a replica follows them', async () => {
    const nodes = [testCore(db), testCore(other)]
    const callerAt = (node: number, person = 0) => createCaller(nodes[node]!, tenants, 0, 0, person)
    const collection = { app: tenants.apps[0], club: tenants.clubs[0], owner: '', collection: 'c' }
    const replica = createReplica(db, collection, 2)
    const rounds = times(200, 25)
    let writing = true

    const batcher = async (n: number) => {
      const { storage } = callerAt(n % 2, n % 2)
      for (let round = 0; round < rounds; round++) {
        const isRemoval = round % 5 === 4
        const operations = reversed(keys, n + round).map((key) =>
          isRemoval ? remove(key) : put(key, n * 1000 + round),
        )
        await storage.batch({ operations })
      }
    }
    const single = async (n: number) => {
      const { storage } = callerAt(n % 2)
      for (let round = 0; round < rounds; round++) {
        const place = address(`single${round % 3}`)
        if (round % 4 === 3) await storage.delete(place).catch(expectStatus(404))
        else await storage.put({ ...place, value: round })
      }
    }
    const reader = async (node: number) => {
      const { storage } = callerAt(node)
      while (writing) {
        const { results } = await storage.batch({ operations: reversed(keys, node).map(get) })
        expect(new Set(results.map((one) => JSON.stringify((one as { value?: unknown }).value))).size).toBe(1)
      }
    }
    const follower = async () => {
      while (writing) await replica.read()
    }
    const readers = Promise.all([reader(0), reader(1), follower()])
    await Promise.all([batcher(0), batcher(1), batcher(2), single(0), single(1)]).finally(() => {
      writing = false
    })
    await readers
    await replica.catchUp()
    expect(replica.state()).toEqual(await storedState(db, collection))
    const entries = await listEntries(db, tenants)
    expect(await readCounters(db, tenants)).toEqual(sumEntries(entries))
    expect(await readTallyRows(db, tenants)).toEqual(tallyEntries(entries))
  })

  it('agree on an ETag: of several that begin with the same one, one is applied', async () => {
    const callers = [testCore(db), testCore(other)].map((core) => createCaller(core, tenants, 0, 0, 0))
    let { etag } = await callers[0]!.storage.put({ ...address('lock'), value: 0 })
    for (let round = 1; round <= times(100, 10); round++) {
      const attempts = Array.from({ length: 6 }, (_, n) =>
        callers[n % 2]!.storage.batch({
          operations: [put(`mine${n}`, round), { ...put('lock', n), ifMatch: etag }, put(`also${n}`, round)],
        }).then(({ results }) => ({ n, etag: (results[1] as { etag: string }).etag }), expectStatus(412)),
      )
      const won = (await Promise.all(attempts)).filter((one) => one !== undefined)
      expect(won).toHaveLength(1)
      const stored = await storedState(db, { app: tenants.apps[0], club: tenants.clubs[0], owner: '', collection: 'c' })
      const written = Object.entries(stored).filter(([, { value }]) => value === `${round}`)
      const { n } = won[0]!
      expect(written.map(([key]) => key).filter((key) => key !== 'lock')).toEqual([`also${n}`, `mine${n}`])
      etag = won[0]!.etag
    }
  })
})

/** Lets a refusal with this status be undefined. */
function expectStatus(status: number) {
  return (error: unknown) => {
    if (error instanceof ApiError && error.status === status) return undefined
    throw error
  }
}

interface Removal {
  what: string
  /** The store or member whose keys go with it. */
  gone: (tenants: Tenants) => { appId?: string; clubId?: string; memberId?: string }
  remove: (tenants: Tenants) => Promise<unknown>
}

const removals: Removal[] = [
  {
    what: 'a membership',
    gone: ({ clubs: [clubId], people: [memberId] }) => ({ clubId, memberId }),
    remove: ({ clubs: [organisationId], people: [personId] }) =>
      db.membership.delete({ where: { of: { organisationId, personId } } }),
  },
  {
    what: 'an app',
    gone: ({ apps: [appId] }) => ({ appId }),
    remove: ({ apps: [id] }) => db.app.deleteMany({ where: { id } }),
  },
  {
    what: 'a club',
    gone: ({ clubs: [clubId] }) => ({ clubId }),
    remove: ({ clubs: [id] }) => db.organisation.deleteMany({ where: { id } }),
  },
]

/** The database, which counts the deadlocks of its statements. */
function countingDeadlocks(pool: Database) {
  const counted = { deadlocks: 0 }
  const execute: Database['execute'] = (statement, values) =>
    pool.execute(statement, values).catch((error) => {
      if (sqlState(error) === '40P01') counted.deadlocks++
      throw error
    })
  const get = (target: Database, name: string | symbol) =>
    name === 'execute' ? execute : Reflect.get(target, name, target)
  return { counted, pool: new Proxy(pool, { get }) }
}

describe.each(removals)('removing $what', ({ gone, remove: removeIt }) => {
  it('never deadlocks with batches, which get refusals at worst', async () => {
    const { counted, pool } = countingDeadlocks(other)
    for (let round = 0; round < times(10, 2); round++) {
      const own = await mintTenants(db)
      const core = testCore(pool)
      let written = 0
      let removed = false
      const writer = async (n: number) => {
        const { storage } = createCaller(core, own, n & 1, (n >> 1) & 1, (n >> 2) & 1)
        for (let more = 10; more > 0; written++) {
          const scope = (['org', 'user'] as const)[written & 1]!
          const of = (key: string) => ({ collection: 'c', scope, key })
          // The second put inserts an entry that the batch itself has deleted.
          const operations = [
            ...reversed(keys, n).map((key) => ({ op: 'put' as const, ...of(key), value: 'x'.repeat(n * 10) })),
            { op: 'delete' as const, ...of('a') },
            { op: 'put' as const, ...of('a'), value: n },
            ...(written % 3 === 2 ? keys.map((key) => ({ op: 'delete' as const, ...of(key) })) : []),
          ]
          const key = written % 2 ? { idempotencyKey: `${n}-${written}` } : {}
          await storage.batch({ operations, ...key }).catch(refusal)
          if (removed) more--
        }
      }
      const writers = Promise.all(Array.from({ length: 8 }, (_, n) => writer(n)))
      await expect.poll(() => written, { interval: 1 }).toBeGreaterThan(40)
      const removal = removeIt(own).finally(() => {
        removed = true
      })
      const ended = await Promise.allSettled([removal, writers])
      expect(ended.filter(({ status }) => status === 'rejected')).toEqual([])
      const left = await listEntries(db, own)
      expect(left).not.toEqual([])
      expect(await readCounters(db, own)).toEqual(sumEntries(left))
      expect(await readTallyRows(db, own)).toEqual(tallyEntries(left))
      expect(await db.storageRequest.count({ where: gone(own) })).toBe(0)
      expect(await db.storageRequest.count({ where: { clubId: own.clubs[1] } })).toBeGreaterThan(0)
    }
    expect(counted.deadlocks).toBe(0)
  })
})

/** Ignores refusals because the writer's client, member or club is gone. */
function refusal(error: unknown) {
  if (error instanceof ApiError && [401, 403, 404].includes(error.status)) return
  throw error
}

describe('random batches', () => {
  const db = openPool({})

  const QUOTA = 60

  const operation = fc.record({
    op: fc.constantFrom('put', 'put', 'delete', 'get'),
    scope: fc.constantFrom('org', 'user'),
    collection: fc.constantFrom('c', 'd'),
    key: fc.constantFrom('a', 'b'),
    value: fc.nat(20).map((bytes) => 'x'.repeat(bytes)) as fc.Arbitrary<Json>,
    condition: fc.oneof(
      { weight: 6, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom('current', 'stale', 'any', 'none', 'not current') },
    ),
  })
  type Drawn = typeof operation extends fc.Arbitrary<infer T> ? T : never

  /** An entry as the model knows it: the ETag of one that the batch itself has put is unknown, as it is to a client. */
  interface Entry {
    value: Json
    etag: string | undefined
  }
  type State = Map<string, Entry>

  const formatAddress = ({ scope, collection, key }: Drawn) => `${scope} ${collection} ${key}`
  const countValue = ({ value }: Entry) => JSON.stringify(value).length
  const countBytes = (state: State) => [...state.values()].reduce((sum, entry) => sum + countValue(entry), 0)

  /** The precondition of an operation by the state before its batch. */
  function toCondition(drawn: Drawn, before: State): { ifMatch?: string; ifNoneMatch?: string } {
    const current = before.get(formatAddress(drawn))?.etag ?? '"none"'
    switch (drawn.condition) {
      case 'current':
        return { ifMatch: `"x", ${current}` }
      case 'stale':
        return { ifMatch: '"x"' }
      case 'any':
        return { ifMatch: '*' }
      case 'none':
        return { ifNoneMatch: '*' }
      case 'not current':
        return { ifNoneMatch: current }
      default:
        return {}
    }
  }

  function meets(drawn: Drawn, entry: Entry | undefined, before: State): boolean {
    const isCurrent = entry?.etag !== undefined && entry.etag === before.get(formatAddress(drawn))?.etag
    switch (drawn.condition) {
      case 'current':
        return isCurrent
      case 'stale':
        return false
      case 'any':
        return entry !== undefined
      case 'none':
        return entry === undefined
      case 'not current':
        return !isCurrent
      default:
        return true
    }
  }

  /** What a batch does by the document: the state after it, with results by index, or the refusal. */
  function applied(batch: readonly Drawn[], before: State) {
    const state: State = new Map(before)
    const results: object[] = []
    let readBytes = 0
    for (const [index, drawn] of batch.entries()) {
      const entry = state.get(formatAddress(drawn))
      if (!meets(drawn, entry, before)) return { refusal: `Operation ${index}: This entry has changed.` }
      const etag = entry?.etag ?? expect.any(String)
      if (drawn.op === 'get') {
        const { key } = drawn
        if (entry) readBytes += countValue(entry)
        results.push(entry ? { key, value: entry.value, updatedAt: expect.any(Number), etag } : { key, missing: true })
      } else if (drawn.op === 'put') {
        state.set(formatAddress(drawn), { value: drawn.value, etag: undefined })
        results.push({ etag: expect.any(String), updatedAt: expect.any(Number) })
      } else results.push({ deleted: state.delete(formatAddress(drawn)) })
    }
    const isFull = countBytes(state) > QUOTA && countBytes(state) > countBytes(before)
    if (isFull) return { refusal: 'App storage quota exceeded.' }
    if (readBytes > QUOTA) return { refusal: 'The entries that the batch reads are larger than the storage quota.' }
    return { state, results }
  }

  it('do what the document says, and leave usage and tallies exact', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { minLength: 1, maxLength: 8 }), { maxLength: 8 }),
        async (batches) => {
          const tenants = await mintTenants(db)
          const { storage } = createCaller({ ...testCore(db), storageQuotaBytes: QUOTA }, tenants, 0, 0, 0)
          let state: State = new Map()
          for (const batch of batches) {
            const operations = batch.map((drawn) => {
              const { condition, value, ...given } = drawn
              return { ...given, ...(given.op === 'put' && { value }), ...toCondition(drawn, state) } as const
            })
            const wanted = applied(batch, state)
            const reply = await storage
              .batch({ operations: operations as never })
              .catch(({ message }: Error) => message)
            if (wanted.refusal !== undefined) expect(reply).toBe(wanted.refusal)
            else {
              expect(reply).toEqual({ results: wanted.results })
              state = wanted.state!
            }
            const entries = await listEntries(db, tenants)
            for (const { owner, collection, key, version } of entries) {
              const entry = state.get(`${owner === '' ? 'org' : 'user'} ${collection} ${key}`)
              if (entry) entry.etag = `"${version}"`
            }
            const found = entries.map(({ owner, collection, key, value }) => [
              `${owner === '' ? 'org' : 'user'} ${collection} ${key}`,
              JSON.parse(value),
            ])
            expect(Object.fromEntries(found)).toEqual(
              Object.fromEntries([...state].map(([address, { value }]) => [address, value])),
            )
            expect(await readCounters(db, tenants)).toEqual(sumEntries(entries))
            expect(await readTallyRows(db, tenants)).toEqual(tallyEntries(entries))
          }
        },
      ),
      { numRuns: times(300, 15) },
    )
  })
})
