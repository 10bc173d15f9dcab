import { describe, expect, it } from 'vitest'
import type { Database, Transaction } from '../../prisma/client.ts'
import { ApiError } from '../../routers/kernel/errors.ts'
import { addEntry } from '../directory/person-rows.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { times } from '../support/rounds.ts'
import {
  createCaller,
  listEntries,
  readCounters,
  readTallyRows,
  sumEntries,
  tallyEntries,
  tenantsOfEach,
  testCore,
  twoPools,
} from './tenants.ts'

const { db, other } = twoPools({})
const tenants = tenantsOfEach(db)

type Rule = 'anyone' | 'author' | 'app'

const setRule = async (rule: Rule, collection = 'c') => {
  const of = { appId: tenants.apps[0], collection }
  if (rule === 'anyone') await db.collectionRule.deleteMany({ where: of })
  else await db.collectionRule.upsert({ where: { of }, create: { ...of, rule }, update: { rule } })
}

const place = { collection: 'c', key: 'k', scope: 'org' as const }
const api = (person: 0 | 1, pool: Database = db) => createCaller(testCore(pool), tenants, 0, 0, person)

/** Everything stored for the apps, with the log of changes. */
const stored = async () => [
  await listEntries(db, tenants),
  await readCounters(db, tenants),
  await readTallyRows(db, tenants),
  await db.storageChange.findMany({ where: { appId: { in: tenants.apps } }, orderBy: { number: 'asc' } }),
]
const valueNow = async () => (await listEntries(db, tenants)).find(({ key }) => key === 'k')?.value

const refusal = (index?: number) => ({
  id: 'entryNotOwn',
  status: 403,
  publicCode: 'forbidden',
  message: `${index === undefined ? '' : `Operation ${index}: `}This entry belongs to another member.`,
})

type Api = ReturnType<typeof api>

const first = { ...place, key: 'first' }
const writes: Record<string, { write: (api: Api) => Promise<unknown>; index?: number; after: string | undefined }> = {
  PUT: { write: ({ storage }) => storage.put({ ...place, value: 2 }), after: '2' },
  DELETE: { write: ({ storage }) => storage.delete(place), after: undefined },
  'a put in a batch': {
    write: ({ storage }) =>
      storage.batch({
        operations: [
          { op: 'get', ...first },
          { op: 'put', ...place, value: 2 },
        ],
      }),
    index: 1,
    after: '2',
  },
  'a delete in a batch': {
    write: ({ storage }) =>
      storage.batch({
        operations: [
          { op: 'put', ...first, collection: 'free', value: 1 },
          { op: 'get', ...place },
          { op: 'delete', ...place },
        ],
      }),
    index: 2,
    after: undefined,
  },
}

const entries: Record<string, () => Promise<unknown>> = {
  'no entry': async () => {},
  'an own entry': () => api(0).storage.put({ ...place, value: 1 }),
  'an entry of another member': () => api(1).storage.put({ ...place, value: 1 }),
  'an entry whose author was removed': async () => {
    await api(1).storage.put({ ...place, value: 1 })
    const of = { organisationId: tenants.clubs[0], personId: tenants.people[1] }
    await db.membership.delete({ where: { of } })
  },
  'an entry made by hand': () =>
    addEntry(db, { app: tenants.apps[0], club: tenants.clubs[0], owner: '', key: 'k', value: '1' }),
}

describe.each([
  ['anyone', 'no entry', true],
  ['anyone', 'an own entry', true],
  ['anyone', 'an entry of another member', true],
  ['anyone', 'an entry whose author was removed', true],
  ['anyone', 'an entry made by hand', true],
  ['author', 'no entry', true],
  ['author', 'an own entry', true],
  ['author', 'an entry of another member', false],
  ['author', 'an entry whose author was removed', false],
  ['author', 'an entry made by hand', false],
  ['app', 'no entry', false],
  ['app', 'an own entry', false],
  ['app', 'an entry of another member', false],
  ['app', 'an entry whose author was removed', false],
  ['app', 'an entry made by hand', false],
] as const)('by the rule %s, %s', (rule, entry, allowed) => {
  it.each(Object.keys(writes))(`${allowed ? 'takes' : 'refuses'} %s`, async (name) => {
    const { write, index, after } = writes[name]!
    await entries[entry]!()
    await setRule(rule)
    const before = await stored()
    const written = write(api(0))
    if (!allowed) {
      await expect(written).rejects.toMatchObject(refusal(index))
      expect(await stored()).toEqual(before)
    } else {
      if (name === 'DELETE' && entry === 'no entry') await expect(written).rejects.toMatchObject({ id: 'keyUnknown' })
      else await written
      expect(await valueNow()).toBe(after)
    }
  })
})

describe('a rule', () => {
  it('does not bind private entries', async () => {
    await setRule('app')
    const own = { ...place, scope: 'user' as const }
    const { storage } = api(0)
    await storage.put({ ...own, value: 1 })
    await storage.put({ ...own, value: 2 })
    await storage.batch({ operations: [{ op: 'put', ...own, value: 3 }] })
    expect(await valueNow()).toBe('3')
    await storage.delete(own)
    expect(await valueNow()).toBe(undefined)
  })

  it.each([undefined, 'once'])('binds merge and add, with the Idempotency-Key %s', async (idempotencyKey) => {
    await api(1).storage.put({ ...place, value: { n: 1 } })
    await setRule('author')
    const before = await stored()
    for (const change of [
      { op: 'merge' as const, value: { n: 2 } },
      { op: 'add' as const, pointer: '/n', value: 1 },
    ]) {
      const operations = [
        { op: 'get' as const, ...first },
        { ...place, ...change },
      ]
      await expect(api(0).storage.batch({ operations, idempotencyKey })).rejects.toMatchObject(refusal(1))
    }
    expect(await stored()).toEqual(before)
  })

  it('binds no reader', async () => {
    await api(1).storage.put({ ...place, value: 1 })
    await setRule('app')
    const { storage } = api(0)
    expect(await storage.get(place)).toMatchObject({ value: 1 })
    expect(await storage.batch({ operations: [{ op: 'get', ...place }] })).toMatchObject({ results: [{ value: 1 }] })
  })

  it('is that of its collection and app alone', async () => {
    await setRule('app', 'd')
    await api(1).storage.put({ ...place, value: 1 })
    await api(0).storage.put({ ...place, value: 2 })
    expect(await valueNow()).toBe('2')
    await expect(api(0).storage.put({ ...place, collection: 'd', value: 1 })).rejects.toMatchObject(refusal())
    await createCaller(testCore(db), tenants, 1, 0, 0).storage.put({ ...place, collection: 'd', value: 1 })
  })

  it('applies in each club', async () => {
    await setRule('app')
    await expect(
      createCaller(testCore(db), tenants, 0, 1, 0).storage.put({ ...place, value: 1 }),
    ).rejects.toMatchObject(refusal())
    expect(await listEntries(db, tenants)).toEqual([])
  })

  it('comes before a precondition', async () => {
    await api(1).storage.put({ ...place, value: 1 })
    await setRule('author')
    const stale = { ...place, ifMatch: '"stale"' }
    const { storage } = api(0)
    await expect(storage.put({ ...stale, value: 2 })).rejects.toMatchObject(refusal())
    await expect(storage.delete(stale)).rejects.toMatchObject(refusal())
    const operations = [
      { op: 'get' as const, ...stale },
      { op: 'put' as const, ...place, value: 2 },
    ]
    await expect(storage.batch({ operations })).rejects.toMatchObject(refusal(1))
    for (const edit of [
      { op: 'merge' as const, value: {} },
      { op: 'add' as const, pointer: '', value: 1 },
    ])
      await expect(storage.batch({ operations: [{ ...stale, ...edit }] })).rejects.toMatchObject(refusal(0))
    expect(await valueNow()).toBe('1')
  })

  it.each([undefined, 'once'])(
    'comes before what merge and add find, with the Idempotency-Key %s',
    async (idempotencyKey) => {
      await api(1).storage.put({ ...place, value: { a: 'text' } })
      await setRule('app')
      const before = await stored()
      const free = { ...place, collection: 'free' }
      const large = { op: 'merge' as const, value: { a: 'x'.repeat(1024 * 1024) } }
      for (const [operations, index] of [
        [[{ ...place, op: 'add' as const, pointer: '/a', value: 1 }], 0],
        [[{ ...place, ...large }], 0],
        [
          [
            { ...free, ...large },
            { ...place, op: 'put' as const, value: 1 },
          ],
          1,
        ],
        [
          [
            { ...free, op: 'merge' as const, value: 1 },
            { ...place, op: 'merge' as const, value: {} },
          ],
          1,
        ],
      ] as const) {
        const written = api(0).storage.batch({ operations: [...operations], idempotencyKey })
        await expect(written).rejects.toMatchObject(refusal(index))
      }
      expect(await stored()).toEqual(before)
    },
  )

  it('lets a batch change what it has made itself, and what it has made again', async () => {
    await api(0).storage.put({ ...place, value: 1 })
    await setRule('author')
    const fresh = { ...place, key: 'fresh' }
    await api(0).storage.batch({
      operations: [
        { op: 'put', ...fresh, value: 1 },
        { op: 'put', ...fresh, value: 2 },
        { op: 'delete', ...place },
        { op: 'put', ...place, value: 3 },
      ],
    })
    expect((await listEntries(db, tenants)).map(({ value, createdBy }) => [value, createdBy])).toEqual([
      ['2', tenants.people[0]],
      ['3', tenants.people[0]],
    ])
  })

  it('leaves changes by Studio and SQL possible, and the entry to its author', async () => {
    await api(1).storage.put({ ...place, value: 1 })
    await setRule('author')
    const where = { appId: tenants.apps[0] }
    await db.storageEntry.updateMany({ where, data: { value: '2' } })
    expect(await valueNow()).toBe('2')
    await expect(api(0).storage.put({ ...place, value: 3 })).rejects.toMatchObject(refusal())
    await api(1).storage.put({ ...place, value: 4 })
    await setRule('app')
    await db.storageEntry.deleteMany({ where })
    expect(await listEntries(db, tenants)).toEqual([])
  })

  it('is changed at once where the app has rules, and within 5 seconds where it had none', async () => {
    let now = Date.now()
    const { storage } = createCaller(
      testCore(db, () => now),
      tenants,
      0,
      0,
      0,
    )
    await storage.put({ ...place, value: 1 })
    await setRule('app')
    now += 5_000
    await expect(storage.put({ ...place, value: 2 })).rejects.toMatchObject(refusal())
    await setRule('author')
    await storage.put({ ...place, value: 3 })
    await setRule('app')
    await expect(storage.put({ ...place, value: 4 })).rejects.toMatchObject(refusal())
    expect(await valueNow()).toBe('3')
  })

  it('goes with its app', async () => {
    await setRule('app')
    await db.app.delete({ where: { id: tenants.apps[0] } })
    expect(await db.collectionRule.findMany({ where: { appId: tenants.apps[0] } })).toEqual([])
  })

  it.each([
    ['c', 'anyone', 'CollectionRule_rule_check'],
    ['c', '', 'CollectionRule_rule_check'],
    ['', 'app', 'CollectionRule_collection_check'],
    ['a.b', 'app', 'CollectionRule_collection_check'],
    ['x'.repeat(65), 'app', 'CollectionRule_collection_check'],
  ])('%j, %j cannot be stored', async (collection, rule, constraint) => {
    await expect(db.collectionRule.create({ data: { appId: tenants.apps[0], collection, rule } })).rejects.toThrow(
      constraint,
    )
  })
})

describe('writers at the same time', () => {
  const put = (pool: Database, person: 0 | 1) => api(person, pool).storage.put({ ...place, value: person })

  const making = (tx: Transaction) => tx.$executeRaw`SELECT FROM storage_write(
    ${tenants.apps[0]}, ${tenants.clubs[0]}, '', 'c', 'k', '1', gen_random_uuid(), now(), 1000, null, null, ${tenants.people[1]},
    true)`

  it('the second of two who make an entry in a new store is refused', async () => {
    await setRule('author')
    await expect(meanwhile(db, making, () => put(other, 0))).rejects.toMatchObject(refusal())
    expect(await valueNow()).toBe('1')
  })

  it('one who waits for the store is refused what has been made meanwhile', async () => {
    await api(0).storage.put({ ...first, value: 0 })
    await setRule('author')
    const lock = (tx: Transaction) =>
      tx.$executeRaw`SELECT FROM "StorageUsage" WHERE "appId" = ${tenants.apps[0]} FOR NO KEY UPDATE`
    await expect(meanwhile(db, lock, () => put(other, 0), { goOn: making })).rejects.toMatchObject(refusal())
    expect(await valueNow()).toBe('1')
  })

  it('one may make the entry that another one is removing', async () => {
    await put(db, 1)
    await setRule('author')
    const removing = (tx: Transaction) => tx.$executeRaw`SELECT FROM storage_delete(
      ${tenants.apps[0]}, ${tenants.clubs[0]}, '', 'c', 'k', null, null, ${tenants.people[1]})`
    await meanwhile(db, removing, () => put(other, 0))
    expect(await listEntries(db, tenants)).toMatchObject([{ value: '0', createdBy: tenants.people[0] }])
  })

  it('on two nodes agree who is the author: an entry never changes hands without a removal', async () => {
    await setRule('author')
    const nodes = [db, other]
    for (let round = 0; round < times(50, 8); round++) {
      const key = `k${round}`
      const write = (n: number) => {
        const { storage } = createCaller(testCore(nodes[n & 1]!), tenants, 0, 0, (n >> 1) & 1)
        const entry = { ...place, key, value: n }
        const written = n & 4 ? storage.batch({ operations: [{ op: 'put', ...entry }] }) : storage.put(entry)
        return written.then(
          () => (n >> 1) & 1,
          (error) => {
            if (error instanceof ApiError && error.id === 'entryNotOwn') return undefined
            throw error
          },
        )
      }
      const authors = await Promise.all(Array.from({ length: 8 }, (_, n) => write(n)))
      const of = authors.filter((author) => author !== undefined)
      // The four writes of one person.
      expect([of.length, new Set(of).size]).toEqual([4, 1])
      const row = (await listEntries(db, tenants)).find((one) => one.key === key)!
      expect([row.createdBy, row.updatedBy]).toEqual([tenants.people[of[0]!], tenants.people[of[0]!]])
    }
    const rows = await listEntries(db, tenants)
    expect(await readCounters(db, tenants)).toEqual(sumEntries(rows))
    expect(await readTallyRows(db, tenants)).toEqual(tallyEntries(rows))
  })
})
