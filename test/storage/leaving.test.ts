import { describe, expect, it } from 'vitest'
import { sqlState } from '../../routers/kernel/database-errors.ts'
import { ApiError } from '../../routers/kernel/errors.ts'
import { times } from '../support/rounds.ts'
import type { Tenants } from './tenants.ts'
import { createStorage, listEntries, mintTenants, readCounters, sumEntries, testCore, twoPools } from './tenants.ts'

const { db, other } = twoPools({ deadlock_timeout: '20ms' })

type Entry = Awaited<ReturnType<typeof listEntries>>[number]

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
  it('works while another connection writes, which gets refusals at worst', async ({ annotate }) => {
    let deadlocks = 0
    for (let round = 0; round < times(4, 2); round++) {
      const tenants = await mintTenants(db)
      const core = testCore(other)
      let written = 0
      let removed = false
      const writer = async (n: number) => {
        const [app, club, person] = [n & 1, (n >> 1) & 1, (n >> 2) & 1]
        const storage = createStorage(core, tenants, app, club, person)
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
      const left = await listEntries(db, tenants)
      expect(left.filter((entry) => takes(entry, tenants))).toEqual([])
      expect(left).not.toEqual([])
      expect(await readCounters(db, tenants)).toEqual(sumEntries(left))
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
