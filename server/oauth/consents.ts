import type { Database } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { CONSENT_MS } from '../../routers/kernel/access.ts'
import { isConsentScope } from '../../routers/kernel/identity-scopes.ts'
import { appOf, appViews, shownClient } from './app-views.ts'
import type { OrganisationKind } from './authorize-scopes.ts'
import { lastUses } from './last-use.ts'

const currentMembership = (personId: string, now: number): Prisma.MembershipListRelationFilter => ({
  some: { personId, OR: [{ leftAt: null }, { leftAt: { gt: new Date(now) } }] },
})

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

const isOpenTo = (person: string): Prisma.ClientWhereInput => ({
  OR: [{ testOnly: false }, { team: { people: { some: { personId: person } } } }],
})

/** Its app is not suspended, its team not deleted. */
const isRunning: Prisma.ClientWhereInput = {
  OR: [{ appId: null }, { app: { state: 'active' } }],
  team: { endsAt: null },
}

/**
 * A consent's organisation and member: the person who signed in, or in a sandbox client a test member of its team. Undefined when
 * it is withdrawn, its member has left, or the app is suspended.
 */
export async function organisationOf(db: Database, { grant, person, client }: GrantHolder, now: number) {
  const consent = await db.consent.findFirst({
    where: {
      id: grant,
      clientId: client,
      withdrawnAt: null,
      client: { state: 'active', AND: [isRunning, isOpenTo(person)] },
      OR: [
        {
          ...{ personId: person, client: { environment: 'production' } },
          organisation: { memberships: currentMembership(person, now) },
        },
        { client: { environment: 'sandbox' }, organisation: { testTeam: { clients: { some: { id: client } } } } },
      ],
    },
    select: { personId: true, organisation: { select: { id: true, kind: true } } },
  })
  return consent && { ...consent.organisation, member: consent.personId }
}

/**
 * The apps that a member has allowed in their current organisations: one entry for each app and organisation, with the scopes of
 * all its consents.
 */
export async function consentsOf(db: Database, person: string, now: number) {
  const rows = await db.consent.findMany({
    where: {
      personId: person,
      withdrawnAt: null,
      createdAt: { gt: new Date(now - CONSENT_MS) },
      organisation: { memberships: currentMembership(person, now) },
    },
    include: { client: { select: shownClient }, organisation: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const entries = new Map<string, typeof rows>()
  for (const row of rows) {
    const key = JSON.stringify([row.clientId, row.organisationId])
    entries.set(key, [...(entries.get(key) ?? []), row])
  }
  const consents = [...entries.values()]
  const apps = await appViews(
    db,
    consents.map(([first]) => first!.client),
  )
  const ids = rows.map(({ id }) => id)
  const lastUse = await lastUses(db, ids, now)
  return consents.map((all, at) => {
    const [first, last] = [all[0]!, all.at(-1)!]
    return {
      consent: first.id,
      app: apps[at]!,
      organisation: first.organisation.name,
      scopes: [...new Set(all.flatMap(({ scopes }) => scopes))].filter(isConsentScope),
      since: first.createdAt,
      lastUse: lastUse(
        all.map(({ id }) => id),
        first.createdAt,
      ),
      ends: new Date(last.createdAt.getTime() + CONSENT_MS),
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
  const all = await db.consent.findMany({
    where: { personId: person, clientId, organisationId, withdrawnAt: null },
    select: { id: true },
  })
  const ids = all.map(({ id }) => id)
  await endGrants(db, ids, now)
  return (await appOf(db, clientId))?.name
}

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
