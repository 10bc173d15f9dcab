import type { Database, Transaction } from '../../prisma/client.ts'
import type { ClubApprovalState } from '../../prisma/generated/client.ts'
import { CONSENT_MS } from '../kernel/access.ts'
import type { ClubApp } from './approvals.ts'

/** The clubs that a person administers now. */
export const clubsOf = (db: Database, person: string, now: number) =>
  db.organisation.findMany({
    where: {
      ...{ kind: 'club', testTeamId: null },
      memberships: {
        some: { personId: person, administrator: true, OR: [{ leftAt: null }, { leftAt: { gt: new Date(now) } }] },
      },
    },
    select: { id: true, name: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  })

export interface AppOfClub {
  app: string
  /** Null for an app that members allow, and about which nobody has decided. */
  state: ClubApprovalState | null
  reason: string | null
  requestedAt: Date | null
  decidedAt: Date | null
}

/** The apps that a club has been asked about, has decided about, or whose members allow them: open requests first. */
export const appsOfClub = (
  db: Database,
  club: string,
  { now, limit, offset, app = null }: { now: number; limit: number; offset: number; app?: string | null },
) =>
  db.$queryRaw<AppOfClub[]>`
    SELECT app.id AS app, approval.state, reason, "requestedAt", "decidedAt"
    FROM "App" app LEFT JOIN "ClubApproval" approval ON approval."appId" = app.id AND approval."organisationId" = ${club}
    WHERE (${app}::text IS NULL OR app.id = ${app}) AND (approval.id IS NOT NULL OR EXISTS (
      SELECT FROM "Client" client JOIN "Consent" ON "clientId" = client.id WHERE client."appId" = app.id
        AND "organisationId" = ${club} AND "withdrawnAt" IS NULL AND "createdAt" > ${new Date(now - CONSENT_MS)}))
    ORDER BY CASE WHEN approval.state = 'requested' THEN 0 WHEN approval.state IS NULL THEN 1 ELSE 2 END, app.name, app.id
    LIMIT ${limit} OFFSET ${offset}`

/** How many members of a club have a consent in force for an app. */
export async function membersWhoAllow(
  db: Database | Transaction,
  { club, app }: ClubApp,
  now: number,
): Promise<number> {
  const [{ members }] = await db.$queryRaw<[{ members: number }]>`
    SELECT count(DISTINCT "personId")::int AS members FROM "Client" client JOIN "Consent" ON "clientId" = client.id
    WHERE client."appId" = ${app} AND "organisationId" = ${club} AND "withdrawnAt" IS NULL
      AND "createdAt" > ${new Date(now - CONSENT_MS)}`
  return members
}
