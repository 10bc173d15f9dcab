import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { CHANGE_DAYS, removeOldChanges } from '../../routers/storage/change-retention.ts'
import { erase } from '../../server/admin/storage-owners.ts'
import { migratedDatabase } from '../support/databases.ts'
import { refusing } from '../support/refusing.ts'
import { times } from '../support/rounds.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { createReplica, page, storedState } from './replica.ts'
import type { Tenants } from './tenants.ts'
import { createStorage, mintTenants, openWith, tenantsOfEach, testCore, twoPools } from './tenants.ts'

const { db, other } = twoPools({ deadlock_timeout: '20ms' })
const tenants = tenantsOfEach(db)

const collection = (owner = '', name = 'c') => ({
  app: tenants.apps[0],
  club: tenants.clubs[0],
  owner,
  collection: name,
})
const storage = (pool = db) => createStorage(testCore(pool), tenants, 0, 0, 0)
const put = (key: string, value: number, scope: 'org' | 'user' = 'org', name = 'c') =>
  storage().put({ collection: name, key, scope, value })
const remove = (key: string) => storage().delete({ collection: 'c', key })
const listKeys = ({ changes }: Awaited<ReturnType<typeof page>>) =>
  changes.map(({ key, value }) => (value === null ? `-${key}` : key))
const expired = { status: 410, publicCode: 'cursor_expired' }

describe('the changes of a collection', () => {
  it('begin with the entries by key, and go on with the last state of each key that changed, in order', async () => {
    for (const key of ['c', 'a', 'b']) await put(key, 1)
    const first = await page(db, collection(), undefined, 2)
    expect([listKeys(first), first.more]).toEqual([['a', 'b'], true])
    const second = await page(db, collection(), first.next, 2)
    expect([listKeys(second), second.more]).toEqual([['c'], false])

    await put('b', 2)
    await put('a', 2)
    await remove('c')
    await put('b', 3)
    const third = await page(db, collection(), second.next, 2)
    expect([listKeys(third), third.more]).toEqual([['a', '-c'], true])
    const fourth = await page(db, collection(), third.next, 2)
    expect(fourth.changes).toEqual([
      { key: 'b', value: '3', updatedAt: expect.any(Number), version: expect.any(String), at: fourth.next },
    ])
    expect(await page(db, collection(), fourth.next)).toEqual({ changes: [], bytes: 0, next: fourth.next, more: false })
  })

  it('have a key once that was removed twice', async () => {
    await put('a', 1)
    const { next } = await page(db, collection())
    for (const value of [1, 2]) {
      await put('bob', value)
      await remove('bob')
    }
    expect(listKeys(await page(db, collection(), next))).toEqual(['-bob'])
  })

  it('are read without the rest of the collection, by a plan without statistics too', async () => {
    // A plan may come from before the first statistics.
    const settings = { plan_cache_mode: 'force_generic_plan' }
    const fresh = openWith(settings, await migratedDatabase(), { max: 1 })
    onTestFinished(() => fresh.$disconnect())
    const own = await mintTenants(fresh)
    const { put } = createStorage(testCore(fresh), own, 0, 0, 0)
    for (let n = 0; n < 200; n++) await put({ collection: 'c', key: `k${n}`, value: n })
    const at = { app: own.apps[0], club: own.clubs[0], owner: '', collection: 'c' }
    const { next } = await page(fresh, at)
    for (let n = 0; n < 10; n++) await put({ collection: 'c', key: `k${n}`, value: n })
    const fetched = async () => {
      await fresh.$queryRaw`SELECT 1 FROM pg_stat_force_next_flush()`
      const [row] = await fresh.$queryRaw<{ rows: number }[]>`
        SELECT idx_tup_fetch::int4 AS rows FROM pg_stat_user_tables WHERE relname = 'StorageEntry'`
      return row!.rows
    }
    const before = await fetched()
    expect((await page(fresh, at, next)).changes).toHaveLength(10)
    expect((await fetched()) - before).toBe(10)
  })

  it('leave out those of other collections, scopes, clubs and apps', async () => {
    const { next } = await page(db, collection())
    await put('own', 1, 'user')
    await put('other', 1, 'org', 'd')
    for (const [app, club] of [
      [0, 1],
      [1, 0],
    ] as const) {
      await createStorage(testCore(db), tenants, app, club, 0).put({ collection: 'c', key: 'k', value: 1 })
    }
    expect(listKeys(await page(db, collection(), next))).toEqual([])
    expect(listKeys(await page(db, collection(tenants.people[0])))).toEqual(['own'])
    expect(listKeys(await page(db, collection(tenants.people[1])))).toEqual([])
  })

  it('have what was written by other hands', async () => {
    await put('moved', 1)
    await put('updated', 1)
    await put('gone', 1)
    const { next } = await page(db, collection())
    const [appId, clubId] = [tenants.apps[0], tenants.clubs[0]]
    const where = (key: string) => ({ where: { address: { appId, clubId, owner: '', collection: 'c', key } } })
    await db.storageEntry.update({ ...where('moved'), data: { key: 'here' } })
    await db.storageEntry.update({ ...where('updated'), data: { value: '2' } })
    await db.storageEntry.delete(where('gone'))
    await db.storageEntry.create({
      data: {
        appId,
        clubId,
        owner: '',
        collection: 'c',
        key: 'new',
        value: '1',
        version: randomUUID(),
        updatedAt: new Date(),
      },
    })
    expect(listKeys(await page(db, collection(), next))).toEqual(['-moved', 'here', 'updated', '-gone', 'new'])
  })

  it('go on after many changes of one key', async () => {
    await put('a', 1)
    const { next } = await page(db, collection())
    const { apps, clubs } = tenants
    await db.$executeRaw`SELECT storage_write(${apps[0]}, ${clubs[0]}, '', 'c', 'a', n::text, gen_random_uuid(), now(), 1000,
      null, null, null, false) FROM generate_series(1, 1500) n`
    const first = await page(db, collection(), next)
    expect([listKeys(first), first.more]).toEqual([[], true])
    const second = await page(db, collection(), first.next)
    expect(second).toMatchObject({ changes: [{ key: 'a', value: '1500' }], more: false })
  })

  it('say nothing when a member is taken off an entry', async () => {
    await put('a', 1)
    const { next } = await page(db, collection())
    const of = { organisationId: tenants.clubs[0], personId: tenants.people[0] }
    await db.membership.delete({ where: { of } })
    expect(await page(db, collection(), next)).toEqual({ changes: [], bytes: 0, next, more: false })
  })

  it('of a member go with the membership', async () => {
    const owner = tenants.people[0]
    await put('a', 1, 'user')
    await put('a', 2, 'user')
    const rows = () => db.storageChange.count({ where: { appId: tenants.apps[0], owner } })
    expect(await rows()).toBe(2)
    await db.membership.delete({ where: { of: { organisationId: tenants.clubs[0], personId: owner } } })
    expect(await rows()).toBe(0)
  })

  it.each(['a whole storage', 'an app', 'a club'])('go with %s', async (what) => {
    await put('a', 1)
    const [app, club] = [tenants.apps[0], tenants.clubs[0]]
    if (what === 'an app') await db.app.delete({ where: { id: app } })
    else if (what === 'a club') await db.organisation.delete({ where: { id: club } })
    else await erase(db, { app, club })
    expect(await db.storageChange.count({ where: { appId: app } })).toBe(0)
  })

  it('are refused after a position of a former storage, and of one that is ahead', async () => {
    await put('a', 1)
    const { next } = await page(db, collection())
    await expect(page(db, collection(), { number: next.number + 1 })).rejects.toMatchObject(expired)
    await erase(db, { app: tenants.apps[0], club: tenants.clubs[0] })
    await expect(page(db, collection(), next)).rejects.toMatchObject(expired)
    await put('b', 1)
    await expect(page(db, collection(), next)).rejects.toMatchObject(expired)
    await expect(page(db, collection(), { ...next, after: 'a' })).rejects.toMatchObject(expired)
    expect(listKeys(await page(db, collection()))).toEqual(['b'])
  })
})

const key = fc.constantFrom('a', 'b')
const step = fc.oneof(
  fc.record({ what: fc.constant('put' as const), key, value: fc.nat(9) }),
  fc.record({ what: fc.constant('delete' as const), key }),
  fc.record({ what: fc.constant('read' as const) }),
)

describe('a replica that follows the changes', () => {
  it('equals the collection once it has read all, whenever it has read before', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40, size: 'max' }),
        fc.integer({ min: 1, max: 5 }),
        async (steps, limit) => {
          Object.assign(tenants, await mintTenants(db))
          const replica = createReplica(db, collection(), limit)
          for (const one of steps) {
            if (one.what === 'put') await put(one.key, one.value)
            else if (one.what === 'delete') await remove(one.key).catch(() => {})
            else await replica.read()
          }
          await replica.catchUp()
          expect(replica.state()).toEqual(await storedState(db, collection()))
        },
      ),
      { numRuns: times(20, 5) },
    )
  })

  it('equals the collection after it has read beside writers on two pools', async () => {
    const replicas = [createReplica(db, collection(), 3), createReplica(other, collection(), 200)]
    let isWriting = true
    const writers = [db, other, db, other].map(async (pool, writer) => {
      for (let n = 0; n < 60; n++) {
        const address = { collection: 'c', key: `k${(n * 7 + writer * 3) % 11}` }
        if (n % 5 === 4)
          await storage(pool)
            .delete(address)
            .catch(() => {})
        else await storage(pool).put({ ...address, value: writer * 1_000 + n })
      }
    })
    const readers = replicas.map(async ({ read }) => {
      while (isWriting) await read()
    })
    await Promise.all(writers)
    isWriting = false
    await Promise.all(readers)
    const stored = await storedState(db, collection())
    for (const { catchUp, state } of replicas) {
      await catchUp()
      expect(state()).toEqual(stored)
    }
  })
})

describe('the log of changes', () => {
  /** A database of its own: the task runs over all stores. */
  let db: Database
  beforeAll(async () => {
    db = openTestDatabase(await migratedDatabase(afterAll))
  })
  afterAll(() => db.$disconnect())

  let tenants: Tenants
  beforeEach(async () => {
    tenants = await mintTenants(db)
  })

  const collection = () => ({ app: tenants.apps[0], club: tenants.clubs[0], owner: '', collection: 'c' })
  const put = (key: string, value: number) =>
    createStorage(testCore(db), tenants, 0, 0, 0).put({ collection: 'c', key, value })
  const remove = (key: string) => createStorage(testCore(db), tenants, 0, 0, 0).delete({ collection: 'c', key })

  const log = async () => {
    const rows = await db.storageChange.findMany({ where: { appId: tenants.apps[0] }, orderBy: { number: 'asc' } })
    return rows.map(({ key, version }) => (version === null ? `-${key}` : key))
  }
  /** Runs the task until nothing is left, as housekeeping does. */
  async function tidy(now = Date.now(), most?: number) {
    while ((await removeOldChanges(db, now, 3, most)) > 0);
  }
  /** Makes the store's changes so far older than they are. */
  const age = (days: number) =>
    db.$executeRaw`UPDATE "StorageChange" SET at = at - make_interval(days => ${days}::int) WHERE "appId" = ${tenants.apps[0]}`

  it('keeps the last change of each key, and who has read some of it sees the same', async () => {
    await put('a', 1)
    const early = createReplica(db, collection(), 200)
    await early.read()
    for (const n of [1, 2, 3, 4]) for (const key of ['a', 'b']) await put(key, n)
    await put('c', 1)
    await remove('c')
    await remove('a')
    await tidy()
    expect(await log()).toEqual(['b', '-c', '-a'])
    await put('c', 2)
    await put('b', 5)
    await tidy()
    expect(await log()).toEqual(['-a', 'c', 'b'])
    await early.catchUp()
    expect(early.state()).toEqual(await storedState(db, collection()))
  })

  it(`keeps no change for longer than ${CHANGE_DAYS} days: who has not read on by then begins again`, async () => {
    await put('a', 1)
    const early = await page(db, collection())
    await put('b', 1)
    await remove('a')
    const late = await page(db, collection(), early.next)
    await age(CHANGE_DAYS + 1)
    await put('c', 1)
    await tidy()
    expect(await log()).toEqual(['c'])
    await expect(page(db, collection(), early.next)).rejects.toMatchObject({ status: 410 })
    expect((await page(db, collection(), late.next)).changes.map(({ key }) => key)).toEqual(['c'])
    expect((await page(db, collection())).changes.map(({ key }) => key)).toEqual(['b', 'c'])
  })

  it('begins again for everybody after the statement of docs/backups.md', async () => {
    await put('a', 1)
    // The store is older than this test.
    const of = { appId: tenants.apps[0], clubId: tenants.clubs[0] }
    await db.storageUsage.update({ where: { of }, data: { changes: 1_000, horizon: 1_000 } })
    const { next } = await page(db, collection())
    const docs = readFileSync(new URL('../../docs/backups.md', import.meta.url), 'utf8')
    const [, statement] = /`(UPDATE "StorageUsage"[^`]+)`/.exec(docs)!
    await db.$executeRawUnsafe(statement!)
    await expect(page(db, collection(), next)).rejects.toMatchObject({ status: 410 })
    expect((await page(db, collection())).changes).toMatchObject([{ key: 'a', value: '1' }])
  })

  it('keeps changes of 29 days', async () => {
    await put('a', 1)
    const { next } = await page(db, collection())
    await remove('a')
    await age(CHANGE_DAYS - 1)
    await tidy()
    expect((await page(db, collection(), next)).changes).toMatchObject([{ key: 'a', value: null }])
  })

  it('is thinned once in a sweep, whatever is written between its steps, which the next one thins', async () => {
    const write = async (value: number) => {
      for (const club of [0, 1] as const)
        await createStorage(testCore(db), tenants, 0, club, 0).put({ collection: 'c', key: 'a', value })
    }
    for (const value of [1, 2, 3, 4]) await write(value)
    const now = Date.now()
    let steps = 0
    while ((await removeOldChanges(db, now, 3)) > 0 && ++steps < 50) await write(steps)
    expect(steps).toBeLessThan(50)
    await tidy()
    expect(await log()).toEqual(['a', 'a'])
  })

  it('is swept in all stores but one that fails, whose error is thrown at the end', async () => {
    const [failing, other] = [...tenants.clubs].sort()
    const write = async () => {
      for (const club of [0, 1] as const)
        await createStorage(testCore(db), tenants, 0, club, 0).put({ collection: 'c', key: 'a', value: Math.random() })
    }
    const count = (clubId: string) => db.storageChange.count({ where: { appId: tenants.apps[0], clubId } })
    for (let i = 0; i < 4; i++) await write()
    const when = `OLD."clubId" = '${failing}'`
    await refusing(db, { event: 'DELETE', table: 'StorageChange', when }, async () => {
      await expect(tidy()).rejects.toThrow('refused')
      expect([await count(failing!), await count(other!)]).toEqual([4, 1])
      await write()
      await age(CHANGE_DAYS + 1)
      await expect(tidy()).rejects.toThrow('refused')
      expect([await count(failing!), await count(other!)]).toEqual([5, 0])
    })
  })

  it('keeps so many changes of a store: who has read less begins again', async () => {
    await put('a', 1)
    const early = await page(db, collection())
    await put('b', 1)
    const late = await page(db, collection(), early.next)
    for (const key of ['c', 'd', 'e']) await put(key, 1)
    await tidy(Date.now(), 3)
    expect(await log()).toEqual(['c', 'd', 'e'])
    await expect(page(db, collection(), early.next)).rejects.toMatchObject({ status: 410 })
    expect((await page(db, collection(), late.next)).changes).toHaveLength(3)
  })

  it('keeps the other keys of a store where one has changed too often', async () => {
    await put('a', 1)
    for (let n = 0; n < 5; n++) await put('b', n)
    await tidy(Date.now(), 3)
    expect(await log()).toEqual(['a', 'b'])
  })
})
