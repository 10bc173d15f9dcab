import type { Database } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { isScope } from '../../routers/scopes.ts'
import type { OrganisationKind } from './authorize-scopes.ts'
import { GRANT_SECONDS } from './lifetimes.ts'

/** Where a person is a member now. */
const current = (personId: string, now: number): Prisma.MembershipListRelationFilter => ({
  some: { personId, OR: [{ leftAt: null }, { leftAt: { gt: new Date(now) } }] },
})

/** The organisations that a member can choose between. */
export const organisationsOf = (db: Database, person: string, kinds: readonly OrganisationKind[], now: number) =>
  db.organisation.findMany({
    where: { kind: { in: [...kinds] }, memberships: current(person, now) },
    select: { id: true, name: true, kind: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  })

interface StorageOwner {
  grant: string
  person: string
  client: string
}

/** The organisation of a consent that still holds: not withdrawn, and its member still belongs there. */
export async function organisationOf(db: Database, { grant, person, client }: StorageOwner, now: number) {
  const consent = await db.consent.findFirst({
    where: {
      id: grant,
      personId: person,
      clientId: client,
      withdrawnAt: null,
      organisation: { memberships: current(person, now) },
    },
    select: { organisationId: true },
  })
  return consent?.organisationId
}

/** The apps that a member allows something: one entry for an app in an organisation, however often it asked. */
export async function consentsOf(db: Database, person: string, now: number) {
  const rows = await db.consent.findMany({
    where: { personId: person, withdrawnAt: null, createdAt: { gt: new Date(now - GRANT_SECONDS * 1000) } },
    include: { client: { include: { app: true, team: true } }, organisation: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const entries = new Map<string, ReturnType<typeof entry>>()
  for (const row of rows) {
    const key = JSON.stringify([row.clientId, row.organisationId])
    const known = entries.get(key)
    if (known) known.scopes = [...new Set([...known.scopes, ...row.scopes.filter(isScope)])]
    else entries.set(key, entry(row))
  }
  return [...entries.values()]
}

type Row = Prisma.ConsentGetPayload<{
  include: { client: { include: { app: true; team: true } }; organisation: true }
}>

const entry = (row: Row) => ({
  consent: row.id,
  app: shownAs(row.client),
  organisation: row.organisation.name,
  scopes: row.scopes.filter(isScope),
  since: row.createdAt,
})

/**
 * Takes back what a member allowed an app in an organisation, by any of the consents to it: its tokens are refused from
 * now on. Says whose app that was; undefined when this member has no such consent.
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
  await end(db, ids, now)
  return (await appOf(db, clientId))?.name
}

/** Ends grants: their consents are withdrawn, and nothing that was issued under them is left. */
export async function end(db: Database, grants: string[], now: number): Promise<void> {
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

/** The name under which a client is shown, and whose it is. */
export async function appOf(db: Database, clientId: string) {
  const client = await db.client.findUnique({ where: { id: clientId }, include: { app: true, team: true } })
  return client && shownAs(client)
}

const shownAs = ({ name, app, team }: Row['client']) => ({ name: app?.name ?? name, team: team?.name ?? '' })

export async function nameOf(db: Database, personId: string) {
  const person = await db.person.findUnique({ where: { id: personId } })
  return person ? `${person.firstName} ${person.lastName}` : null
}
