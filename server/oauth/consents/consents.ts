import type { Database } from '../../../prisma/client.ts'
import type { Prisma } from '../../../prisma/generated/client.ts'
import { instant, int, jsonStrings, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { CONSENT_MS, isPostgresText } from '../../../routers/kernel/access.ts'
import { isConsentScope } from '../../../routers/kernel/identity-scopes.ts'
import { labelItems } from '../../../routers/kernel/labels.ts'
import { unixMs } from '../../../routers/kernel/time.ts'
import { withdrawConsents } from '../../../routers/kernel/withdraw.ts'
import { appViews, findApp, SHOWN, shown } from './app-views.ts'
import type { OrganisationKind } from './authorize-scopes.ts'
import { LAST_USE, toLastUse } from './last-use.ts'

/** Memberships that have not ended. */
export const isCurrent = (now: number) =>
  ({ OR: [{ leftAt: null }, { leftAt: { gt: new Date(now) } }] }) satisfies Prisma.MembershipWhereInput

export const listOrganisations = (db: Database, person: string, kinds: readonly OrganisationKind[], now: number) =>
  db.organisation.findMany({
    where: { kind: { in: [...kinds] }, memberships: { some: { personId: person, ...isCurrent(now) } } },
    select: { id: true, name: true, kind: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  })

interface GrantHolder {
  grant: string
  person: string
  client: string
}

/** In a sandbox client the member is a test member of its team. Its app is not suspended, its team not deleted. */
const consented = statement(
  'consented_organisation',
  `SELECT consent."personId" AS member, organisation.id, organisation.kind
    FROM "Consent" consent JOIN "Client" client ON client.id = consent."clientId"
      JOIN "Team" team ON team.id = client."teamId" LEFT JOIN "App" app ON app.id = client."appId"
      JOIN "Organisation" organisation ON organisation.id = consent."organisationId"
    WHERE consent.id = $grant AND consent."clientId" = $client AND consent."withdrawnAt" IS NULL AND client.state = 'active'
      AND team."endsAt" IS NULL AND coalesce(app.state, 'active') = 'active'
      AND (NOT client."testOnly" OR EXISTS (SELECT FROM "TeamMember" WHERE "teamId" = team.id AND "personId" = $person))
      AND CASE client.environment WHEN 'sandbox' THEN organisation."testTeamId" = team.id ELSE consent."personId" = $person END
      AND EXISTS (SELECT FROM "Membership" WHERE "organisationId" = organisation.id AND "personId" = consent."personId"
        AND ("leftAt" IS NULL OR "leftAt" > $now::timestamptz))`,
  { grant: text, client: text, person: text, now: instant },
  { member: text, id: text, kind: oneOf('club', 'academy', 'provider') },
)

/**
 * A consent's organisation and member: the person who signed in, or in a sandbox client a test member of its team. Undefined when
 * it is withdrawn, its member has left, or the app is suspended.
 */
export async function findOrganisation(db: Database, { grant, person, client }: GrantHolder, now: number) {
  if (![grant, person, client].every(isPostgresText)) return undefined
  const [found] = await db.execute(consented, { grant, client, person, now })
  return found
}

const inForce = statement(
  'consents_in_force',
  `SELECT consent.id, "clientId", "organisationId", organisation.name AS organisation, to_json(consent.scopes) AS scopes,
      ${unixMs('"createdAt"')} AS "createdAt", ${SHOWN}, ${LAST_USE}
    FROM "Consent" consent JOIN "Client" client ON client.id = "clientId"
      JOIN "Organisation" organisation ON organisation.id = "organisationId"
    WHERE "personId" = $person AND "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter::timestamptz
      AND EXISTS (SELECT FROM "Membership" WHERE "organisationId" = organisation.id AND "personId" = $person
        AND ("leftAt" IS NULL OR "leftAt" > $now::timestamptz))
    ORDER BY "createdAt", consent.id`,
  { person: text, consentedAfter: instant, now: instant },
  {
    id: text,
    clientId: text,
    organisationId: text,
    organisation: text,
    scopes: jsonStrings,
    createdAt: int,
    ...shown,
    lastUse: nullable(int),
  },
)

/**
 * The apps that a member has allowed in their current organisations: one entry for each app and organisation, with the scopes of
 * all its consents.
 */
export async function listConsents(db: Database, person: string, now: number) {
  const rows = await db.execute(inForce, { person, consentedAfter: now - CONSENT_MS, now })
  const entries = new Map<string, typeof rows>()
  for (const row of rows) {
    const key = JSON.stringify([row.clientId, row.organisationId])
    const entry = entries.get(key)
    if (entry) entry.push(row)
    else entries.set(key, [row])
  }
  const consents = [...entries.values()]
  const labels = labelItems(rows.map(({ organisationId: id, organisation: name }) => ({ id, name })))
  const apps = await appViews(
    db,
    consents.map(([first]) => first!.client),
  )
  return consents.map((all, at) => {
    const [first, last] = [all[0]!, all.at(-1)!]
    const since = new Date(first.createdAt)
    return {
      consent: first.id,
      app: apps[at]!,
      organisation: labels.get(first.organisationId)!,
      since,
      scopes: [...new Set(all.flatMap(({ scopes }) => scopes))].filter(isConsentScope),
      lastUse: toLastUse(
        all.map(({ lastUse }) => lastUse),
        since,
        now,
      ),
      ends: new Date(last.createdAt + CONSENT_MS),
    }
  })
}

/**
 * Withdraws all of a member's consents to an app in an organisation, identified by one of them. Returns the app's name, or
 * undefined if the member has no such consent.
 */
export async function withdraw(db: Database, person: string, consent: string, now: number) {
  const one = await db.consent.findFirst({ where: { id: consent, personId: person } })
  if (!one) return undefined
  const { clientId, organisationId } = one
  await db.$transaction((tx) => withdrawConsents(tx, { personId: person, clientId, organisationId }, now))
  return (await findApp(db, clientId))?.name
}
