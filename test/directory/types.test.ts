import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Id, Item, Listed } from '../../routers/directory/procedures.ts'
import { platformClient } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()

describe('the types of a client', () => {
  it('have each kind with its records and keys', async () => {
    const { directory } = platformClient(world)
    const person = id('person')
    const added = await directory.people.upsert.mutate({
      items: [{ id: person, firstName: 'A', lastName: 'B', email: '', birthday: null, version: 1 }],
    })
    expect(added).toEqual({ added: 1, changed: 0, unchanged: 0 })
    const { organisation } = { organisation: world.ids.club }
    await directory.memberships.upsert.mutate({ items: [{ organisation, person, joinedAt: '2026-01-01T00:00:00Z' }] })
    const { items } = await directory.memberships.list.query({ after: { organisation, person }, limit: 1 })
    expectTypeOf(items[0]!.joinedAt).toEqualTypeOf<number>()
    expect(await directory.memberships.end.mutate({ ids: [{ organisation, person }] })).toEqual({ ended: 1 })
  })

  it('refuse unknown fields, wrong values and keys that are left out', () => {
    expectTypeOf<{ id: string; fristName: string }>().not.toExtend<Required<Item<'people'>>>()
    expectTypeOf<{ firstName: string }>().not.toExtend<Item<'people'>>()
    expectTypeOf<{ id: string; kind: 'team' }>().not.toExtend<Item<'organisations'>>()
    expectTypeOf<{ id: string; groups: string }>().not.toExtend<Item<'events'>>()
    expectTypeOf<{ id: string; leftAt: undefined }>().not.toExtend<Item<'memberships'>>()
    expectTypeOf<{ id: string; state: 'open'; attempts: null }>().toExtend<Item<'quizzes'>>()
  })

  it('have ids as they are', () => {
    expectTypeOf<Id<'people'>>().toEqualTypeOf<string>()
    expectTypeOf<Id<'memberships'>>().toEqualTypeOf<{ organisation: string; person: string }>()
    expectTypeOf<Id<'groupMembers'>['role']>().toEqualTypeOf<'member' | 'trainer'>()
  })

  it('have whole records of a list', () => {
    expectTypeOf<Listed<'people'>['birthday']>().toEqualTypeOf<string | null>()
    expectTypeOf<Listed<'events'>['groups']>().toEqualTypeOf<string[]>()
    expectTypeOf<Listed<'quizzes'>['state']>().toEqualTypeOf<'draft' | 'open' | 'closed'>()
    expectTypeOf<Listed<'people'>['version']>().toEqualTypeOf<number>()
  })
})
