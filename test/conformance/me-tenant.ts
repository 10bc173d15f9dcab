import { randomUUID } from 'node:crypto'
import type { World } from '../support/world.ts'

/** Creates a club with one member, whose token reads `me/*`. */
export async function newTenant({ db, call }: World) {
  const club = await newClub(db)
  const member = await newMember(db, club)
  const claims = { sub: member, organisation: club }
  const get = async (path: string) => {
    const { status, body } = await call('GET', path, { claims })
    return { status, body }
  }
  /** Returns `field` of each item. */
  const list = async (path: string, field = 'id') => {
    const { status, body } = await get(path)
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
    return (body.items as Record<string, unknown>[]).map((item) => item[field])
  }
  return { club, member, get, list }
}

export async function newClub(db: World['db']) {
  const { id } = await db.organisation.create({ data: { id: randomUUID(), kind: 'club', name: 'Club' } })
  return id
}

export async function newMember(db: World['db'], organisationId: string) {
  const person = { id: randomUUID(), firstName: 'Mo', lastName: 'Mitglied', email: 'mo@example.org' }
  await db.person.create({ data: { ...person, memberships: { create: { organisationId } } } })
  return person.id
}

/** Creates a group with these people, `[person, role]` each. */
export async function newGroup(
  db: World['db'],
  clubId: string,
  people: (readonly [personId: string, role: 'member' | 'trainer'])[] = [],
  { id = randomUUID() as string, name = 'Group' } = {},
) {
  const rows = people.map(([personId, role]) => ({ personId, role }))
  await db.group.create({ data: { id, clubId, name, people: { create: rows } } })
  return id
}
