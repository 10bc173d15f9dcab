import type { Database } from '../../../prisma/client.ts'
import { findApprovals } from '../../../routers/approvals/approvals.ts'
import { formatLabel, fullName, withLabels } from '../../../routers/kernel/labels.ts'
import type { OrganisationKind } from './authorize-scopes.ts'
import { isCurrent, listOrganisations } from './consents.ts'

/** An option of the consent page: an organisation, and in sandbox clients also a test member. */
export interface Choice {
  id: string
  name: string
  organisation: string
  kind: OrganisationKind
  member: string
}

/** A club that has not approved the app. */
export interface ClosedClub {
  id: string
  name: string
  /** Members can ask it, once. */
  state: 'unasked' | 'requested' | 'refused'
}

export interface Choices {
  open: Choice[]
  closed: ClosedClub[]
  /** The app on which a club has to agree with the open choice; null where nobody has to. */
  approvedApp: string | null
}

interface Asked {
  person: string
  client: string
  kinds: readonly OrganisationKind[]
  clubApproval: boolean
  now: number
}

/**
 * The person's organisations; for a sandbox client, which nobody has reviewed, only its team's test members. Null when the client
 * is for the people of a team that the person is not in.
 */
export async function choicesFor(db: Database, { person, client: id, kinds, clubApproval, now }: Asked) {
  const client = await db.client.findUnique({
    where: { id },
    select: { environment: true, testOnly: true, teamId: true, appId: true },
  })
  const team = client?.teamId ?? ''
  if (client?.testOnly) {
    const colleague = await db.teamMember.findUnique({ where: { of: { teamId: team, personId: person } } })
    if (!colleague) return null
  }
  if (client?.environment === 'sandbox') return allOpen(await testChoices(db, team, kinds, now))
  const own = withLabels(await listOrganisations(db, person, kinds, now))
  const choices = own.map(({ id, name, kind }) => ({ id, name, kind, organisation: id, member: person }))
  return clubApproval ? approvedChoices(db, client?.appId ?? null, choices) : allOpen(choices)
}

const allOpen = (open: Choice[]): Choices => ({ open, closed: [], approvedApp: null })

/** Clubs decide about apps: no club can approve a client without one. */
async function approvedChoices(db: Database, app: string | null, choices: readonly Choice[]): Promise<Choices> {
  const clubs = choices.filter(({ kind }) => kind === 'club')
  const ids = clubs.map(({ id }) => id)
  const approvals = app === null || ids.length === 0 ? null : await findApprovals(db, app, ids)
  const findState = (id: string) => (app === null ? 'refused' : (approvals?.get(id) ?? 'unasked'))
  const isOpen = ({ id, kind }: Choice) => kind !== 'club' || findState(id) === 'approved'
  return {
    open: choices.filter(isOpen),
    closed: clubs
      .filter((club) => !isOpen(club))
      .map(({ id, name }) => {
        const state = findState(id)
        return { id, name, state: state === 'unasked' || state === 'requested' ? state : 'refused' }
      }),
    approvedApp: app,
  }
}

async function testChoices(
  db: Database,
  team: string,
  kinds: readonly OrganisationKind[],
  now: number,
): Promise<Choice[]> {
  const memberships = await db.membership.findMany({
    where: { ...isCurrent(now), organisation: { testTeamId: team, kind: { in: [...kinds] } } },
    select: { person: true, organisation: true },
    orderBy: [{ organisation: { kind: 'asc' } }, { person: { firstName: 'asc' } }, { personId: 'asc' }],
  })
  const choices = memberships.map(({ person, organisation }) => ({
    id: `${organisation.id} ${person.id}`,
    name: `${fullName(person)}, ${formatLabel(organisation)}`,
    organisation: organisation.id,
    kind: organisation.kind,
    member: person.id,
  }))
  return withLabels(choices)
}
