import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { callerOf, coreOf, entriesOf, mintTenants, openWith, write } from '../storage/tenants.ts'
import { times } from '../support/rounds.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const db = openWith({})
afterAll(() => db.$disconnect())

const two = [0, 1] as const

describe('every app, club, member and scope', () => {
  it('sees the collections and entries written there, and no others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 25 }), async (writes) => {
        const tenants = await mintTenants(db)
        const core = coreOf(db)
        for (const { app, club, person, ...entry } of writes) {
          await callerOf(core, tenants, app, club, person).storage.put(entry)
        }
        const stored = await entriesOf(db, tenants)
        for (const [app, club, person] of two.flatMap((a) => two.flatMap((c) => two.map((p) => [a, c, p] as const)))) {
          const { storage } = callerOf(core, tenants, app, club, person)
          for (const scope of ['org', 'user'] as const) {
            const own = stored.filter(
              (row) =>
                row.appId === tenants.apps[app] &&
                row.clubId === tenants.clubs[club] &&
                row.owner === (scope === 'user' ? tenants.people[person] : ''),
            )
            const { items, more } = await storage.collections({ scope })
            expect(more).toBe(false)
            const names = [...new Set(own.map(({ collection }) => collection))]
            expect(items.map(({ collection, entries, bytes }) => [collection, entries, bytes])).toEqual(
              names.map((name) => {
                const rows = own.filter(({ collection }) => collection === name)
                return [name, rows.length, rows.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0)]
              }),
            )
            for (const collection of ['scores', 'notes']) {
              const found = await storage.entries({ collection, scope })
              const rows = own.filter((row) => row.collection === collection)
              expect(found).toEqual({
                items: rows.map(({ key, value, version, updatedAt }) => ({
                  key,
                  value: JSON.parse(value),
                  etag: `"${version}"`,
                  updatedAt: Math.floor(updatedAt.getTime() / 1000),
                })),
                more: false,
              })
            }
          }
        }
      }),
      { numRuns: times(60, 6) },
    )
  })
})

describe('over REST', () => {
  const world = useWorld()

  it('another member sees what is shared, and not what a member stored for themselves', async () => {
    const other = id('person')
    const memberships = { create: { organisationId: world.ids.club } }
    await world.db.person.create({ data: { id: other, firstName: 'O', lastName: 'O', email: '', memberships } })
    await world.call('PUT', '/storage/c/shared', { body: { value: 1 } })
    await world.call('PUT', '/storage/c/own?scope=user', { body: { value: 2 } })
    const seen = async (claims: object, path: string) => {
      const { body } = await world.call('GET', path, { claims: { ...claims } })
      return body.items.map((item: { collection?: string; key?: string }) => item.collection ?? item.key)
    }
    for (const [claims, own] of [
      [{}, true],
      [{ sub: other }, false],
    ] as const) {
      expect(await seen(claims, '/collections')).toEqual(['c'])
      expect(await seen(claims, '/collections/c/entries')).toEqual(['shared'])
      expect(await seen(claims, '/collections?scope=user')).toEqual(own ? ['c'] : [])
      expect(await seen(claims, '/collections/c/entries?scope=user')).toEqual(own ? ['own'] : [])
    }
  })

  it('a member who has left, and a club that is none of theirs, are 404', async () => {
    const error = { code: 'not_found', message: 'This member does not exist in this club.' }
    const former = id('person')
    const memberships = { create: { organisationId: world.ids.club, leftAt: new Date((world.now() - 1) * 1000) } }
    await world.db.person.create({ data: { id: former, firstName: 'F', lastName: 'F', email: '', memberships } })
    for (const claims of [{ sub: former }, { organisation: id('club') }]) {
      for (const path of ['/collections', '/collections/c/entries?scope=user']) {
        expect(await world.call('GET', path, { claims })).toMatchObject({ status: 404, body: { error } })
      }
    }
  })
})
