import type { Database } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { CONSENT_MS } from '../../routers/access.ts'
import { isScope } from '../../routers/scopes.ts'
import type { OrganisationKind } from './authorize-scopes.ts'

const currentMembership = (personId: string, now: number): Prisma.MembershipListRelationFilter => ({
  some: { personId, OR: [{ leftAt: null }, { leftAt: { gt: new Date(now) } }] },
})

/** The organisations of these kinds that a person is a member of now. */
export const organisationsOf = (db: Database, person: string, kinds: readonly OrganisationKind[], now: number) =>
  db.organisation.findMany({
    where: { kind: { in: [...kinds] }, memberships: currentMembership(person, now) },
    select: { id: true, name: true, kind: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  })

interface GrantHolder {
  grant: string
  person: string
  client: string
}

/** The organisation of a consent; undefined once it is withdrawn, its member has left, or while the app is suspended. */
export async function organisationOf(db: Database, { grant, person, client }: GrantHolder, now: number) {
  const consent = await db.consent.findFirst({
    where: {
      id: grant,
      personId: person,
      clientId: client,
      withdrawnAt: null,
      client: { OR: [{ appId: null }, { app: { state: 'active' } }] },
      organisation: { memberships: currentMembership(person, now) },
    },
    select: { organisation: { select: { id: true, kind: true } } },
  })
  return consent?.organisation
}

/**
 * The apps that a member has allowed in organisations that they belong to now: one entry for each app and organisation, with
 * the scopes of all its consents.
 */
export async function consentsOf(db: Database, person: string, now: number) {
  const rows = await db.consent.findMany({
    where: {
      personId: person,
      withdrawnAt: null,
      createdAt: { gt: new Date(now - CONSENT_MS) },
      organisation: { memberships: currentMembership(person, now) },
    },
    include: { client: { include: { app: true, team: true } }, organisation: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const entries = new Map<string, ReturnType<typeof entry>>()
  for (const row of rows) {
    const key = JSON.stringify([row.clientId, row.organisationId])
    const earlier = entries.get(key)
    if (earlier) earlier.scopes = [...new Set([...earlier.scopes, ...row.scopes.filter(isScope)])]
    else entries.set(key, entry(row))
  }
  return [...entries.values()]
}

type Row = Prisma.ConsentGetPayload<{
  include: { client: { include: { app: true; team: true } }; organisation: true }
}>

const entry = (row: Row) => ({
  consent: row.id,
  app: displayNames(row.client),
  organisation: row.organisation.name,
  scopes: row.scopes.filter(isScope),
  since: row.createdAt,
})

/**
 * Withdraws all of a member's consents to an app in an organisation, named by one of them. Returns the app's name, or
 * undefined if the member has no such consent.
 */
export async function withdraw(db: Database, person: string, consent: string, now: number) {
  const one = await db.consent.findFirst({ where: { id: consent, personId: person } })
  if (!one) return undefined
  const { clientId, organisationId } = one
  const all = await db.consent.findMany({
    where: { personId: person, clientId, organisationId, withdrawnAt: null },
    select: { id: true },
  })
  const ids = all.map(({ id }) => id)
  await endGrants(db, ids, now)
  return (await appOf(db, clientId))?.name
}

/** Withdraws the consents of these grants and deletes everything issued under them. */
export async function endGrants(db: Database, grants: string[], now: number): Promise<void> {
  await db.$transaction([
    db.consent.updateMany({
      where: { id: { in: grants }, withdrawnAt: null },
      data: { withdrawnAt: new Date(now) },
    }),
    db.oauthRecord.deleteMany({
      where: { OR: [{ grantId: { in: grants } }, { model: 'Grant', id: { in: grants } }] },
    }),
  ])
}

/** The names that members see: the app's, or else the client's, and the team's. Null for an unknown client. */
export async function appOf(db: Database, clientId: string) {
  const client = await db.client.findUnique({ where: { id: clientId }, include: { app: true, team: true } })
  return client && displayNames(client)
}

const displayNames = ({ name, app, team }: Row['client']) => ({ name: app?.name ?? name, team: team?.name ?? '' })

/** Null for an unknown person. */
export async function fullNameOf(db: Database, personId: string) {
  const person = await db.person.findUnique({ where: { id: personId } })
  return person ? `${person.firstName} ${person.lastName}` : null
}
