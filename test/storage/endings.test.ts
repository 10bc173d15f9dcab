import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { callAs } from '../../routers/core.ts'
import type { KindName } from '../../routers/directory/kinds.ts'
import { mergeKind } from '../../routers/directory/merge.ts'
import type { Core } from '../../routers/kernel/context.ts'
import { firstPartyScopes } from '../../routers/kernel/scopes.ts'
import { erase } from '../../routers/personal-data/erase.ts'
import { migratedDatabase } from '../support/databases.ts'
import { times } from '../support/rounds.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { Tenants } from './tenants.ts'
import {
  coreOf,
  countersOf,
  entriesOf,
  mintTenants,
  storageOf,
  sumsOf,
  talliesOf,
  tallyRowsOf,
  write,
} from './tenants.ts'

/** A database of its own, as full imports end what they do not name. */
const url = new Promise<string>((resolve) => {
  beforeAll(async () => resolve(await migratedDatabase(afterAll)))
})
let db: Database
let core: Core
beforeAll(async () => {
  db = openTestDatabase(await url)
  core = coreOf(db)
})
afterAll(() => db.$disconnect())

const either = fc.constantFrom<0 | 1>(0, 1)
const leftAt = fc.constantFrom('2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z', null, undefined)
const step = fc.oneof(
  { weight: 3, arbitrary: write.map((entry) => ({ does: 'write' as const, entry })) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('import memberships' as const),
      full: fc.boolean(),
      records: fc.uniqueArray(fc.record({ club: either, person: either, leftAt }), {
        selector: ({ club, person }) => 2 * club + person,
      }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constantFrom('import people' as const, 'import organisations' as const),
      full: fc.boolean(),
      which: fc.uniqueArray(either),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constantFrom('end memberships' as const, 'end people' as const, 'end organisations' as const),
      club: either,
      person: either,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constantFrom('leave' as const, 'return' as const), club: either, person: either }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const merge = (kind: KindName, records: object[], full: boolean) =>
  db.inTransaction((client) =>
    mergeKind(
      client,
      kind,
      records.map((record, line) => ({ line, record })),
      { now: new Date(), full },
    ),
  )

async function take(one: Step, tenants: Tenants) {
  const { clubs, people } = tenants
  const scopes = new Set<string>(firstPartyScopes)
  const { directory } = callAs(core, { member: null, organisation: clubs[0], client: 'platform', scopes })
  switch (one.does) {
    case 'write': {
      const { app, club, person, ...entry } = one.entry
      // 404 for a person who has left.
      return storageOf(coreOf(db), tenants, app, club, person)
        .put(entry)
        .catch((error) => expect(error.status).toBe(404))
    }
    case 'import memberships': {
      const records = one.records.map(({ club, person, leftAt }) => ({
        ...{ organisation: clubs[club], person: people[person], joinedAt: 0 },
        ...(leftAt !== undefined && { leftAt }),
      }))
      return expect(await merge('memberships', records, one.full)).toMatchObject({ refused: { count: 0 } })
    }
    case 'import people': {
      const records = one.which.map((i) => ({ id: people[i], firstName: 'New', lastName: 'N', email: '' }))
      return merge('people', records, one.full)
    }
    case 'import organisations': {
      const records = one.which.map((i) => ({ id: clubs[i], kind: 'club', name: 'New' }))
      return merge('organisations', records, one.full)
    }
    case 'end memberships':
      return directory.memberships.end({ ids: [{ organisation: clubs[one.club], person: people[one.person] }] })
    case 'end people':
      return directory.people.end({ ids: [people[one.person]] })
    case 'end organisations':
      return directory.organisations.end({ ids: [clubs[one.club]] })
    default:
      return db.membership.update({
        where: { of: { organisationId: clubs[one.club], personId: people[one.person] } },
        data: { leftAt: one.does === 'leave' ? new Date() : null },
      })
  }
}

describe('imports, endings and returns', () => {
  it('keep every entry of a member who is not erased, and its version', async () => {
    await db.client.createMany({ data: [{ id: 'platform', name: 'Platform', environment: 'production' }] })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 20 }), either, async (steps, erased) => {
        const tenants = await mintTenants(db)
        for (const one of steps) {
          const before = await entriesOf(db, tenants)
          await take(one, tenants)
          if (one.does !== 'write') expect(await entriesOf(db, tenants), one.does).toEqual(before)
        }
        const before = await entriesOf(db, tenants)
        await erase(db, tenants.people[erased])
        expect(await entriesOf(db, tenants)).toEqual(before.filter(({ owner }) => owner !== tenants.people[erased]))
        expect(await countersOf(db, tenants)).toEqual(sumsOf(await entriesOf(db, tenants)))
        expect(await tallyRowsOf(db, tenants)).toEqual(talliesOf(await entriesOf(db, tenants)))
        await merge(
          'memberships',
          tenants.clubs.map((organisation) => ({ organisation, person: tenants.people[1 - erased] })),
          false,
        )
        const kept = before.filter(
          ({ owner, appId, clubId }) =>
            owner === tenants.people[1 - erased] && appId === tenants.apps[0] && clubId === tenants.clubs[0],
        )
        for (const { collection, key, value } of kept) {
          const entry = await storageOf(coreOf(db), tenants, 0, 0, 1 - erased).get({ collection, key, scope: 'user' })
          expect(entry.value).toEqual(JSON.parse(value))
        }
      }),
      { numRuns: times(25, 6) },
    )
  })
})
