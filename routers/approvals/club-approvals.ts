import type { Database, Transaction } from '../../prisma/client.ts'
import { ClubApprovalState } from '../../prisma/generated/enums.ts'
import { execute } from '../../prisma/pg/execute.ts'
import { instant, int, nullable, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../kernel/access.ts'
import { withLabels } from '../kernel/labels.ts'
import type { ClubApp } from './approvals.ts'

/** The clubs that a person administers now, or all organisations. */
export const findClubs = async (db: Database, person: string, now: number, { all = false } = {}) => {
  const clubs = await db.organisation.findMany({
    where: {
      ...(!all && { kind: 'club' }),
      testTeamId: null,
      memberships: {
        some: { personId: person, administrator: true, OR: [{ leftAt: null }, { leftAt: { gt: new Date(now) } }] },
      },
    },
    select: { id: true, name: true, kind: true },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  })
  return withLabels(clubs)
}

const statements = {
  apps: statement(
    'apps_of_club',
    `WITH RECURSIVE used AS (
      (SELECT "clientId" AS client FROM "Consent" WHERE "organisationId" = $club ORDER BY "clientId" LIMIT 1)
      UNION ALL SELECT (SELECT "clientId" FROM "Consent" WHERE "organisationId" = $club AND "clientId" > client
        ORDER BY "clientId" LIMIT 1) FROM used WHERE client IS NOT NULL),
    own AS (
      SELECT "appId" FROM "ClubApproval" WHERE "organisationId" = $club
      UNION SELECT "appId" FROM "Client" WHERE id = ANY (ARRAY(SELECT client FROM used WHERE (
        SELECT true FROM "Consent" WHERE "organisationId" = $club AND "clientId" = client AND "withdrawnAt" IS NULL
          AND "createdAt" > $consentedAfter LIMIT 1))))
    SELECT app.id AS app, approval.state, reason, "requestedAt", "decidedAt"
    FROM "App" app LEFT JOIN "ClubApproval" approval ON approval."appId" = app.id AND approval."organisationId" = $club
    WHERE app.id = ANY (ARRAY(SELECT "appId" FROM own)) AND ($app::text IS NULL OR app.id = $app)
    ORDER BY CASE WHEN approval.state = 'requested' THEN 0 WHEN approval.state IS NULL THEN 1 ELSE 2 END, app.name, app.id
    LIMIT $limit OFFSET $offset`,
    { club: text, consentedAfter: instant, app: nullable(text), limit: int, offset: int },
    {
      app: text,
      /** Null for an app that members allow, and about which nobody has decided. */
      state: nullable(oneOf(...Object.values(ClubApprovalState))),
      reason: nullable(text),
      requestedAt: nullable(instant),
      decidedAt: nullable(instant),
    },
  ),
  members: statement(
    'members_who_allow',
    `SELECT count(DISTINCT "personId") AS members FROM "Client" client JOIN "Consent" ON "clientId" = client.id
      WHERE client."appId" = $app AND "organisationId" = $club AND "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter`,
    { app: text, club: text, consentedAfter: instant },
    { members: int },
  ),
}

export type AppOfClub = ReturnType<typeof statements.apps.decode>

/**
 * The apps that a club has been asked about, has decided about, or whose members allow them: open requests first. Steps through
 * the club's clients, not its consents: of these, EXISTS instead of LIMIT 1 reads all.
 */
export const appsOfClub = (
  db: Database,
  club: string,
  { now, limit, offset, app = null }: { now: number; limit: number; offset: number; app?: string | null },
) => db.execute(statements.apps, { club, consentedAfter: now - CONSENT_MS, app, limit, offset })

/** How many members of a club have a consent in force for an app. */
export async function membersWhoAllow(
  db: Database | Transaction,
  { club, app }: ClubApp,
  now: number,
): Promise<number> {
  const values = { club, app, consentedAfter: now - CONSENT_MS }
  const [row] = await execute(db, statements.members, values)
  return row!.members
}
