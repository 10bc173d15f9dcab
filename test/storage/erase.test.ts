import fc from 'fast-check'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { erase, readUsage } from '../../server/admin/storage-owners.ts'
import { migratedDatabase } from '../support/databases.ts'
import { times } from '../support/rounds.ts'
import {
  createStorage,
  listEntries,
  mintTenants,
  openWith,
  readCounters,
  readTallyRows,
  sumEntries,
  tallyEntries,
  testCore,
  twoPools,
  write,
} from './tenants.ts'

const { db, other } = twoPools({ deadlock_timeout: '20ms' })

type Entries = Awaited<ReturnType<typeof listEntries>>
const measureEntries = (entries: Entries) => ({
  entries: entries.length,
  bytes: entries.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0),
})

describe('erase', () => {
  it.each(['whole', 'of a member'])(
    '(%s) removes what usage reports and nothing else, and updates the counter',
    async (how) => {
      const core = testCore(db)
      await fc.assert(
        fc.asyncProperty(fc.array(write, { maxLength: 40 }), async (writes) => {
          const tenants = await mintTenants(db)
          for (const { app, club, person, ...entry } of writes) {
            await createStorage(core, tenants, app, club, person).put(entry)
          }
          const [app, club, person] = [tenants.apps[0], tenants.clubs[0], tenants.people[0]]
          const holder = { app, club, member: how === 'whole' ? undefined : person }
          const before = await listEntries(db, tenants)
          const held = before.filter(({ appId, clubId }) => appId === app && clubId === club)
          const going = held.filter(({ owner }) => how === 'whole' || owner === person)
          expect(await readUsage(db, holder)).toEqual({
            bytes: measureEntries(held).bytes,
            shared: measureEntries(going.filter(({ owner }) => owner === '')),
            own: measureEntries(going.filter(({ owner }) => owner !== '')),
            members: new Set(going.map(({ owner }) => owner).filter(Boolean)).size,
          })
          expect(await erase(db, holder)).toEqual(measureEntries(going))
          const left = before.filter((entry) => !going.includes(entry))
          expect(await listEntries(db, tenants)).toEqual(left)
          expect(await readCounters(db, tenants)).toEqual(sumEntries(left))
          expect(await readTallyRows(db, tenants)).toEqual(tallyEntries(left))
          expect(await erase(db, holder)).toEqual({ entries: 0, bytes: 0 })
        }),
        { numRuns: times(20, 4) },
      )
    },
  )

  it('removes more entries than one statement does', async () => {
    const tenants = await mintTenants(db)
    const [app, club] = [tenants.apps[0], tenants.clubs[0]]
    for (const first of [1, 2_001, 4_001, 6_001, 8_001, 10_001]) {
      await db.$executeRaw`INSERT INTO "StorageEntry"
        SELECT ${app}, ${club}, '', 'c', n::text, NULL, '1', gen_random_uuid(), now()
        FROM generate_series(${first}::int, ${first}::int + 1999) n`
    }
    expect(await erase(db, { app, club })).toEqual({ entries: 12_000, bytes: 12_000 })
    expect(await listEntries(db, tenants)).toEqual([])
    expect(await readCounters(db, tenants)).toEqual({})
    expect(await readTallyRows(db, tenants)).toEqual({})
  })

  // Citus has no such triggers.
  it.skipIf(inject('isCitus'))(
    "removes a storage's changes and requests in portions, and none with the usage row",
    async () => {
      const own = openWith({}, await migratedDatabase())
      onTestFinished(() => own.$disconnect())
      const tenants = await mintTenants(own)
      const [app, club, client] = [tenants.apps[0], tenants.clubs[0], tenants.clients[0]]
      const storage = createStorage(testCore(own), tenants, 0, 0, 0)
      for (const key of ['a', 'b', 'c', 'd', 'e']) await storage.put({ collection: 'c', key, value: 1 })
      await own.$executeRaw`INSERT INTO "StorageRequest"
      SELECT ${app}, ${club}, '', ${client}, n, 'PUT', sha256(''), '{stored}', '{NULL}', 0, n, now() FROM generate_series(1, 5) n`
      await own.$executeRaw`CREATE FUNCTION at_most_two() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF (SELECT count(*) FROM gone) > 2 THEN RAISE EXCEPTION 'more than two rows'; END IF;
        RETURN NULL;
      END $$`
      await own.$executeRaw`CREATE TRIGGER changes AFTER DELETE ON "StorageChange" REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION at_most_two()`
      await own.$executeRaw`CREATE TRIGGER requests AFTER DELETE ON "StorageRequest" REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION at_most_two()`
      expect(await erase(own, { app, club }, 2)).toEqual({ entries: 5, bytes: 5 })
      expect([await own.storageChange.count(), await own.storageRequest.count()]).toEqual([0, 0])
      expect(await readCounters(own, tenants)).toEqual({})
    },
  )

  it('removes nothing with an empty member', async () => {
    const tenants = await mintTenants(db)
    await createStorage(testCore(db), tenants, 0, 0, 0).put({ collection: 'c', key: 'shared', value: 1 })
    const holder = { app: tenants.apps[0], club: tenants.clubs[0], member: '' }
    expect(await erase(db, holder)).toEqual({ entries: 0, bytes: 0 })
    expect(await listEntries(db, tenants)).toHaveLength(1)
  })

  it('is repeated after a deadlock with the removal of a member, which locks entries first', async () => {
    const tenants = await mintTenants(db)
    const [app, club, personId] = [tenants.apps[0], tenants.clubs[0], tenants.people[0]]
    for (const person of [0, 1]) {
      const storage = createStorage(testCore(db), tenants, 0, 0, person)
      await storage.put({ collection: 'c', key: 'k', scope: 'user', value: person })
    }
    // Checks for a deadlock once, after the cycle has formed.
    const patient = openWith({ deadlock_timeout: '4s' })
    onTestFinished(() => patient.$disconnect())
    let erased: ReturnType<typeof erase> | undefined
    await other.$transaction(async (tx) => {
      await tx.$executeRaw`SET LOCAL deadlock_timeout = '30s'`
      const [own] = await tx.$queryRaw<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`
      await tx.$queryRaw`SELECT FROM "StorageEntry" WHERE "clubId" = ${club} AND owner = ${personId} FOR UPDATE`
      erased = erase(patient, { app, club })
      const waits = () =>
        other.$queryRaw<unknown[]>`SELECT 1 FROM pg_locks WHERE ${own.pid}::int = ANY(pg_blocking_pids(pid))`
      await expect.poll(async () => (await waits()).length, { interval: 5 }).toBeGreaterThan(0)
      await tx.membership.delete({ where: { of: { organisationId: club, personId } } })
    })
    expect(await erased).toEqual({ entries: 1, bytes: 1 })
    expect(await listEntries(db, tenants)).toEqual([])
    expect(await readCounters(db, tenants)).toEqual({})
  })
})
