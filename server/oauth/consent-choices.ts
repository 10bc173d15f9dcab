import type { Database } from '../../prisma/client.ts'
import type { OrganisationKind } from './authorize-scopes.ts'
import { organisationsOf } from './consents.ts'

/** An option of the consent page: an organisation, and in sandbox clients also a test member. */
export interface Choice {
  id: string
  name: string
  organisation: string
  kind: OrganisationKind
  member: string
}

interface Asked {
  person: string
  client: string
  kinds: readonly OrganisationKind[]
  now: number
}

/**
 * The person's organisations; for a sandbox client, which nobody has reviewed, only its team's test members. Null when the client
 * is for the people of a team that the person is not in.
 */
export async function choicesFor(db: Database, { person, client: id, kinds, now }: Asked): Promise<Choice[] | null> {
  const client = await db.client.findUnique({
    where: { id },
    select: { environment: true, testOnly: true, teamId: true },
  })
  const team = client?.teamId ?? ''
  if (client?.testOnly) {
    const colleague = await db.teamMember.findUnique({ where: { of: { teamId: team, personId: person } } })
    if (!colleague) return null
  }
  if (client?.environment === 'sandbox') return testChoices(db, team, kinds)
  const own = await organisationsOf(db, person, kinds, now)
  return own.map(({ id, name, kind }) => ({ id, name, kind, organisation: id, member: person }))
}

async function testChoices(db: Database, team: string, kinds: readonly OrganisationKind[]): Promise<Choice[]> {
  const memberships = await db.membership.findMany({
    where: { organisation: { testTeamId: team, kind: { in: [...kinds] } } },
    select: { person: true, organisation: true },
    orderBy: [{ organisation: { kind: 'asc' } }, { person: { firstName: 'asc' } }, { personId: 'asc' }],
  })
  return memberships.map(({ person, organisation }) => ({
    id: `${organisation.id} ${person.id}`,
    name: `${person.firstName} ${person.lastName}, ${organisation.name}`,
    organisation: organisation.id,
    kind: organisation.kind,
    member: person.id,
  }))
}
