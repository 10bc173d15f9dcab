import { callAs } from '../../routers/core.ts'
import { mintApp } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'

/** Calls the developers' procedures as a person who signed in at the portal. */
export const asPerson = (
  { core, ids }: Pick<World, 'core' | 'ids'>,
  member: string,
  scopes = ['dev:read', 'dev:write'],
) => callAs(core, { member, organisation: ids.provider, client: ids.platform, scopes: new Set(scopes) }).developer

/** A team with a person who works on its app. */
export async function mintTeam(world: World, level: 'hobby' | 'developer' = 'developer') {
  const { db } = world
  const [team, person] = [id('team'), id('person')]
  await db.team.create({ data: { id: team, name: 'Builders', level } })
  await db.person.create({ data: { id: person, firstName: 'Dora', lastName: 'Dev', email: '' } })
  await db.teamMember.create({ data: { teamId: team, personId: person, role: 'developer' } })
  return { team, person, app: await mintApp(world, { teamId: team }), api: asPerson(world, person) }
}
