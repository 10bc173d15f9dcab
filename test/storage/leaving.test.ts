import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { sqlState } from '../../routers/kernel/database-errors.ts'
import { ApiError } from '../../routers/kernel/errors.ts'
import { times } from '../support/rounds.ts'
import type { Tenants } from './tenants.ts'
import { coreOf, countersOf, entriesOf, mintTenants, openWith, storageOf, sumsOf, write } from './tenants.ts'

const db = openWith({ deadlock_timeout: '20ms' })
/** A second pool. */
const other = openWith({ deadlock_timeout: '20ms' })
afterAll(() => Promise.all([db.$disconnect(), other.$disconnect()]))

type Entry = Awaited<ReturnType<typeof entriesOf>>[number]

interface Removal {
  what: string
  remove: (tenants: Tenants) => Promise<unknown>
  takes: (entry: Entry, tenants: Tenants) => boolean
}

const removals: Removal[] = [
  {
    what: 'a membership',
    remove: ({ clubs: [organisationId], people: [personId] }) =>
      db.membership.delete({ where: { of: { organisationId, personId } } }),
    takes: ({ clubId, owner }, { clubs, people }) => clubId === clubs[0] && owner === people[0],
  },
  {
    what: 'a person',
    remove: ({ people: [id] }) => db.person.delete({ where: { id } }),
    takes: ({ owner }, { people }) => owner === people[0],
  },
  {
    what: 'an app',
    remove: ({ apps: [id] }) => db.app.deleteMany({ where: { id } }),
    takes: ({ appId }, { apps }) => appId === apps[0],
  },
  {
    what: 'a team with its app',
    remove: ({ teams: [id] }) => db.team.deleteMany({ where: { id } }),
    takes: ({ appId }, { apps }) => appId === apps[0],
  },
  {
    what: 'a club',
    remove: ({ clubs: [id] }) => db.organisation.deleteMany({ where: { id } }),
    takes: ({ clubId }, { clubs }) => clubId === clubs[0],
  },
]

describe.each(removals)('removing $what', ({ remove, takes }) => {
  it('removes its entries and no others, and updates the counters', async () => {
    const core = coreOf(db)
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 40 }), async (writes) => {
        const tenants = await mintTenants(db)
        for (const { app, club, person, ...entry } of writes) {
          await storageOf(core, tenants, app, club, person).put(entry)
        }
        const before = await entriesOf(db, tenants)
        expect(await countersOf(db, tenants)).toEqual(sumsOf(before))
        await remove(tenants)
        const left = before.filter((entry) => !takes(entry, tenants))
        expect(await entriesOf(db, tenants)).toEqual(left)
        expect(await countersOf(db, tenants)).toEqual(sumsOf(left))
      }),
      { numRuns: times(10, 3) },
    )
  })

  it('works while another connection writes, which gets refusals at worst', async ({ annotate }) => {
    let deadlocks = 0
    for (let round = 0; round < times(4, 2); round++) {
      const tenants = await mintTenants(db)
      const core = coreOf(other)
      let written = 0
      let removed = false
      const writer = async (n: number) => {
        const [app, club, person] = [n & 1, (n >> 1) & 1, (n >> 2) & 1]
        const storage = storageOf(core, tenants, app, club, person)
        // Some writers continue after the removal and may be refused.
        for (let more = 15; more > 0; written++) {
          const place = { collection: 'c', key: `k${written % 3}`, scope: (['org', 'user'] as const)[written & 1]! }
          const action =
            written % 5 === 4 ? storage.delete(place) : storage.put({ ...place, value: 'x'.repeat(n * 10) })
          await action.catch(refusal)
          if (removed) more--
        }
      }
      const writers = Promise.all(Array.from({ length: 8 }, (_, n) => writer(n)))
      await expect.poll(() => written, { interval: 1 }).toBeGreaterThan(60)
      deadlocks += await removing(() => remove(tenants))
      removed = true
      await writers
      const left = await entriesOf(db, tenants)
      expect(left.filter((entry) => takes(entry, tenants))).toEqual([])
      expect(left).not.toEqual([])
      expect(await countersOf(db, tenants)).toEqual(sumsOf(left))
    }
    await annotate(`deadlocks in which the removal gave way: ${deadlocks}`)
  })
})

/** Ignores refusals because the writer's client, member, club or key is gone. */
function refusal(error: unknown) {
  if (error instanceof ApiError && [401, 403, 404].includes(error.status)) return
  throw error
}

/** Repeats a removal that was the victim of a deadlock. */
async function removing(remove: () => Promise<unknown>, deadlocks = 0): Promise<number> {
  try {
    await remove()
    return deadlocks
  } catch (error) {
    if (sqlState(error) !== '40P01' && (error as { code?: string }).code !== 'P2034') throw error
    return removing(remove, deadlocks + 1)
  }
}

describe('a former member (leftAt)', () => {
  it('has no access, but their entries count and are there on return', async () => {
    let offset = 0
    const core = coreOf(db, () => Date.now() + offset)
    const tenants = await mintTenants(db)
    const own = { collection: 'notes', key: 'k', scope: 'user' } as const
    const storage = storageOf(core, tenants, 0, 0, 0)
    await storage.put({ ...own, value: 'kept' })
    const before = await entriesOf(db, tenants)

    const of = { organisationId: tenants.clubs[0], personId: tenants.people[0] }
    const setLeftAt = async (leftAt: Date | null) => {
      await db.membership.update({ where: { of }, data: { leftAt } })
      offset += 5_000 // the access cache expires
    }
    await setLeftAt(new Date())
    const message = 'This member does not exist in this club.'
    await expect(storage.get(own)).rejects.toMatchObject({ status: 404, message })
    await expect(storage.put({ ...own, value: 'other' })).rejects.toMatchObject({ status: 404, message })
    expect(await entriesOf(db, tenants)).toEqual(before)
    expect(await countersOf(db, tenants)).toEqual(sumsOf(before))

    await setLeftAt(null)
    expect(await storage.get(own)).toMatchObject({ value: 'kept' })
  })
})
