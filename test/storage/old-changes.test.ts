import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { CHANGE_DAYS, removeOldChanges } from '../../routers/storage/change-retention.ts'
import { migratedDatabase } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { page, replicaOf, storedState } from './replica.ts'
import type { Tenants } from './tenants.ts'
import { coreOf, mintTenants, storageOf } from './tenants.ts'

/** Of its own: the task runs over all stores. */
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
const put = (key: string, value: number) => storageOf(coreOf(db), tenants, 0, 0, 0).put({ collection: 'c', key, value })
const remove = (key: string) => storageOf(coreOf(db), tenants, 0, 0, 0).delete({ collection: 'c', key })

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

describe('the log of changes', () => {
  it('keeps the last change of each key, and who has read some of it sees the same', async () => {
    await put('a', 1)
    const early = replicaOf(db, collection(), 200)
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
})
