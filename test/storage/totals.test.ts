import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { sumCollections } from '../../routers/storage/sum-retention.ts'
import { erase } from '../../server/admin/storage-owners.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { pgClient } from '../support/pg-client.ts'
import { times } from '../support/rounds.ts'
import { id } from '../support/tenant.ts'
import type { Tenants } from './tenants.ts'
import {
  countEntries,
  createStorage,
  findNewest,
  listEntries,
  mintTenants,
  openWith,
  readCountRows,
  readKnownTimes,
  readTallyRows,
  tallyEntries,
  testCore,
  write,
} from './tenants.ts'

const db = openWith({ deadlock_timeout: '20ms' })
/** A connection as Studio or psql have one. */
const hand = pgClient(inject('databaseUrl'))
beforeAll(() => hand.connect())
afterAll(() => Promise.all([db.$disconnect(), hand.end()]))

/** By hand, of the store of app $1 in club $2. */
const byHand = {
  'insert many': `INSERT INTO "StorageEntry" SELECT $1, $2, '', collection, 'n' || n, NULL, '1', gen_random_uuid(), now()
    FROM generate_series(1, 3) n, (VALUES ('scores'), ('more')) of (collection)
    ON CONFLICT ("appId", "clubId", owner, collection, key) DO UPDATE SET value = '2'`,
  'delete some': `DELETE FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2 AND key IN ('a', 'n1', 'n2')`,
  'delete all': `DELETE FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2`,
  'move a collection': `UPDATE "StorageEntry" entry SET collection = 'notes' WHERE "appId" = $1 AND "clubId" = $2
    AND collection = 'scores' AND NOT EXISTS (SELECT FROM "StorageEntry" other WHERE other.collection = 'notes'
      AND (other."appId", other."clubId", other.owner, other.key) = (entry."appId", entry."clubId", entry.owner, entry.key))`,
  'share an entry': `UPDATE "StorageEntry" SET owner = '', "memberId" = NULL, key = 'was-' || left("memberId", 50)
    WHERE ctid = (SELECT ctid FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2 AND owner <> '' LIMIT 1)
    AND NOT EXISTS (SELECT FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2 AND key LIKE 'was-%')`,
  'insert and delete': `WITH added AS (INSERT INTO "StorageEntry" VALUES ($1, $2, '', 'scores', gen_random_uuid()::text, NULL, '1',
      gen_random_uuid(), now()) RETURNING key)
    DELETE FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2 AND key = 'b' AND EXISTS (SELECT FROM added)`,
} as const
type ByHand = keyof typeof byHand

const either = fc.constantFrom<0 | 1>(0, 1)
const store = { app: either, club: either, person: either }
const step = fc.oneof(
  { weight: 10, arbitrary: fc.record({ does: fc.constant('put' as const), entry: write }) },
  { weight: 5, arbitrary: fc.record({ does: fc.constant('delete' as const), entry: write }) },
  { weight: 5, arbitrary: fc.record({ does: fc.constantFrom('merge' as const, 'add' as const), entry: write }) },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constantFrom(...(Object.keys(byHand) as ByHand[])),
      rolledBack: fc.boolean(),
      ...store,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constantFrom('erase a store', "erase a member's", 'remove a member', 'remove an app', 'remove a club'),
      ...store,
    }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function take(one: Step, tenants: Tenants) {
  if ('entry' in one) {
    const { app, club, person, value, ...entry } = one.entry
    const storage = createStorage(testCore(db), tenants, app, club, person)
    const edit =
      one.does === 'merge' ? { op: one.does, value: { n: 1 } } : { op: 'add' as const, pointer: '/n', value: 1 }
    const done: Promise<unknown> =
      one.does === 'put'
        ? storage.put({ ...entry, value })
        : one.does === 'delete'
          ? storage.delete(entry)
          : storage.batch({ operations: [{ ...entry, ...edit }] })
    // 401 and 404 where app, club or member have been removed, 404 for an absent entry, 400 for an edit of a
    // value that is not an object.
    return done.catch((error) => expect([400, 401, 403, 404]).toContain(error.status))
  }
  const [app, club, person] = [tenants.apps[one.app], tenants.clubs[one.club], tenants.people[one.person]]
  if ('rolledBack' in one) {
    const stands = await hand.query(`SELECT FROM "App", "Organisation" club WHERE "App".id = $1 AND club.id = $2`, [
      app,
      club,
    ])
    if (stands.rowCount === 0) return
    await hand.query('BEGIN')
    await hand.query(byHand[one.does], [app, club])
    await hand.query(one.rolledBack ? 'ROLLBACK' : 'COMMIT')
  } else if (one.does === 'erase a store') await erase(db, { app, club })
  else if (one.does === "erase a member's") await erase(db, { app, club, member: person })
  else if (one.does === 'remove a member') {
    await db.membership.deleteMany({ where: { organisationId: club, personId: person } })
  } else if (one.does === 'remove an app') await db.app.deleteMany({ where: { id: app } })
  else await db.organisation.deleteMany({ where: { id: club } })
}

async function expectTotals(tenants: Tenants, after: string) {
  const stored = await listEntries(db, tenants)
  expect(await readTallyRows(db, tenants), after).toEqual(tallyEntries(stored))
  expect(await readCountRows(db, tenants), after).toEqual(countEntries(stored))
  expect(findNewest(stored), after).toMatchObject(await readKnownTimes(db, tenants))
}

describe('the totals of a collection and a store', () => {
  it('equal the stored entries after any sequence of changes, and are gone with the last entry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const tenants = await mintTenants(db)
        for (const one of steps) {
          await take(one, tenants)
          await expectTotals(tenants, one.does)
        }
      }),
      { numRuns: times(40, 8) },
    )
  })

  it.each([
    ['another figure', 'UPDATE "StorageCollection" SET entries = entries + 1 WHERE "appId" = $1'],
    ['other bytes', 'UPDATE "StorageCollection" SET bytes = bytes + 1 WHERE "appId" = $1'],
    ['another time', `UPDATE "StorageCollection" SET "updatedAt" = "updatedAt" - interval '1 h' WHERE "appId" = $1`],
    ['no row', 'DELETE FROM "StorageCollection" WHERE "appId" = $1'],
    ['another name', `UPDATE "StorageCollection" SET collection = 'other' WHERE "appId" = $1`],
    ['a row without entries', `INSERT INTO "StorageCollection" VALUES ($1, 'nowhere', '', 'c', 1)`],
  ])('of a collection cannot be given %s by hand', async (_, sql) => {
    const tenants = await mintTenants(db)
    await createStorage(testCore(db), tenants, 0, 0, 0).put({ collection: 'c', key: id('k'), value: 1 })
    await expect(hand.query(sql, [tenants.apps[0]])).rejects.toThrow('is the number of its entries')
    await expectTotals(tenants, 'the refusal')
  })

  it('of a store cannot be given another number of entries by hand', async () => {
    const tenants = await mintTenants(db)
    await createStorage(testCore(db), tenants, 0, 0, 0).put({ collection: 'c', key: id('k'), value: 1 })
    const sql = 'UPDATE "StorageUsage" SET entries = entries + 1 WHERE "appId" = $1'
    await expect(hand.query(sql, [tenants.apps[0]])).rejects.toThrow('and their number')
    await expectTotals(tenants, 'the refusal')
  })

  it('are counted once in a store of the release before, also beside writers', async () => {
    const tenants = await mintTenants(db)
    const storage = createStorage(testCore(db), tenants, 0, 0, 0)
    const put = (key: string, value: string) => storage.put({ collection: 'c', key, value })
    for (const key of ['a', 'b', 'c']) await put(key, 'x')
    const forget = (table: string, columns: string) =>
      hand.query(`UPDATE "${table}" SET ${columns} WHERE "appId" = $1`, [tenants.apps[0]])
    await forget('StorageCollection', 'bytes = NULL, "updatedAt" = NULL')
    await forget('StorageUsage', 'entries = NULL')
    await put('a', 'longer')
    expect(Object.values(await readTallyRows(db, tenants))).toEqual([{ entries: 3, bytes: null }])
    const insertion = `INSERT INTO "StorageEntry" SELECT $1, $2, '', 'c', key, NULL, '"more"', gen_random_uuid(), now()
      FROM unnest('{d,e}'::text[]) key`
    const { apps, clubs } = tenants
    await meanwhile(
      db,
      (tx) => tx.$executeRawUnsafe(insertion, apps[0], clubs[0]),
      () => sumCollections(db),
    )
    await storage.delete({ collection: 'c', key: 'b' })
    await expectTotals(tenants, 'summing')
  })
})
