import { callAs } from '../../routers/core.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'

/** A person of the world's team, and the procedures that they may call. */
export async function createDeveloper({ core, db, ids }: World) {
  const person = id('developer')
  await db.person.create({ data: { id: person, firstName: 'D', lastName: 'D', email: '' } })
  await db.teamMember.create({ data: { teamId: ids.team, personId: person, role: 'developer' } })
  const scopes = new Set(['dev:read'])
  return callAs(core, { member: person, organisation: '', client: ids.platform, scopes }).developer
}
