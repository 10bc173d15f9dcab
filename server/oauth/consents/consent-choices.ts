import type { Database } from '../../../prisma/client.ts'
import type { ClubApp } from '../../../routers/approvals/approvals.ts'
import { findApprovals } from '../../../routers/approvals/approvals.ts'
import type { ChildApp } from '../../../routers/approvals/child-requests.ts'
import { findChildStates } from '../../../routers/approvals/child-requests.ts'
import { findHostId, isDocumentAddress } from '../../../routers/developer/shared/document-address.ts'
import type { ConsentAges } from '../../../routers/kernel/consent-ages.ts'
import type { ConsentScope } from '../../../routers/kernel/identity-scopes.ts'
import { formatLabel, fullName, withLabels } from '../../../routers/kernel/labels.ts'
import type { OrganisationKind } from './authorize-scopes.ts'
import { isFor, listOrganisationKinds } from './authorize-scopes.ts'
import { isCurrent, listOrganisations } from './consents.ts'

/** An option of the consent page: an organisation, and in sandbox clients also a test member. */
export interface Choice {
  id: string
  name: string
  organisation: string
  kind: OrganisationKind
  member: string
  /** The approvals with which it is open: they have to be in force when the consent is stored. */
  club?: ClubApp
  child?: ChildApp
}

/** An organisation for which the member cannot allow the app yet. */
export interface ClosedClub {
  id: string
  name: string
  /** Who decides: about the app for all members, or for the member, who is below CONSENT_AGE. */
  by: 'club' | 'guardian' | 'administrator'
  /** Members can ask, once. */
  state: 'unasked' | 'requested' | 'refused'
  /** For a child: why it was refused, and the scopes to ask for. */
  reason?: string | null
  scopes?: readonly ConsentScope[]
}

export interface Choices {
  open: Choice[]
  closed: ClosedClub[]
  app: string | null
}

interface Asked {
  person: string
  client: string
  scopes: readonly ConsentScope[]
  clubApproval: boolean
  /** Null where a guardian's approval does not count. */
  consentAges: ConsentAges | null
  now: number
}

/**
 * The person's organisations; for a sandbox client, which nobody has reviewed, only its team's test members. Null when the client
 * is for the people of a team that the person is not in.
 */
export async function choicesFor(db: Database, asked: Asked): Promise<Choices | null> {
  const { person, client: id, scopes, now } = asked
  const kinds = listOrganisationKinds(scopes)
  const client = await db.client.findUnique({
    where: { id },
    select: { environment: true, testOnly: true, teamId: true, appId: true },
  })
  const team = client?.teamId ?? ''
  if (client?.testOnly) {
    const colleague = await db.teamMember.findUnique({ where: { of: { teamId: team, personId: person } } })
    if (!colleague) return null
  }
  if (client?.environment === 'sandbox') {
    return { open: await testChoices(db, team, kinds, now), closed: [], app: null }
  }
  const own = withLabels(await listOrganisations(db, person, kinds, now))
  const app = client?.appId ?? (isDocumentAddress(id) ? findHostId(id) : null)
  return approvedChoices(db, app, own, asked)
}

/** The first approval that an organisation lacks closes it. Nobody can approve a client without an app. */
async function approvedChoices(
  db: Database,
  app: string | null,
  own: Awaited<ReturnType<typeof listOrganisations>>,
  { person, scopes: asked, clubApproval, consentAges: ages, now }: Asked,
): Promise<Choices> {
  const ids = own.map(({ id }) => id)
  const [approvals, children] = await Promise.all([
    clubApproval && app !== null ? findApprovals(db, app, ids) : null,
    ages && findChildStates(db, { child: person, clubs: ids, app, ages, now }),
  ])
  const choices: Choices = { open: [], closed: [], app }
  for (const { id, name, kind } of own) {
    const child = children?.get(id)
    const needs = { club: clubApproval && kind === 'club', child: child !== undefined }
    const fitting = asked.filter(isFor(kind))
    const state = needs.club ? (approvals?.get(id) ?? 'unasked') : 'approved'
    if ((needs.club || needs.child) && app === null) {
      choices.closed.push({ id, name, by: 'club', state: 'refused' })
    } else if (state !== 'approved') {
      choices.closed.push({ id, name, by: 'club', state: state === 'withdrawn' ? 'refused' : state })
    } else if (child && !isWithin(fitting, child.covered)) {
      const by = child.hasGuardian ? 'guardian' : 'administrator'
      choices.closed.push({ id, name, by, state: readState(child, fitting), reason: child.reason, scopes: fitting })
    } else {
      const approved = { club: id, app: app! }
      const approvals = {
        ...(needs.club && { club: approved }),
        ...(child && { child: { ...approved, child: person } }),
      }
      choices.open.push({ id, name, kind, organisation: id, member: person, ...approvals })
    }
  }
  return choices
}

const isWithin = (asked: readonly string[], scopes: readonly string[]) => asked.every((one) => scopes.includes(one))

/** An app that asks for more than was asked for is unasked. */
function readState({ state, scopes }: { state: string | null; scopes: string[] }, asked: readonly string[]) {
  if (state === 'refused' || state === 'withdrawn') return 'refused'
  return state === 'requested' && isWithin(asked, scopes) ? 'requested' : 'unasked'
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
