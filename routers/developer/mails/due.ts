import type { Database } from '../../../prisma/client.ts'
import { Language, MailKind } from '../../../prisma/generated/enums.ts'
import { instant, json, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { DECIDERS } from '../../kernel/consent-ages.ts'
import { organisationLabel, personLabel } from '../../kernel/labels.ts'
import { unixMs } from '../../kernel/time.ts'
import type { About } from './queue.ts'

interface Invitation {
  role: 'owner' | 'developer'
  /** Unix milliseconds. */
  expiresAt: number
  /** Null for the operator, who has no name. */
  by: string | null
}

/** What a club is asked, or who decides for a child. */
interface ClubRequest {
  club: string
  clubName: string
  /** Null once the member is erased. */
  by: string | null
  /** The app's clients in production. */
  clients: { scopes: string[] | null; purpose: Record<string, string> | null }[]
  /** `by` is a child: what it asks for, and whether it asks a guardian. */
  child?: { scopes: string[]; isGuardian: boolean }
}

/** What a member has allowed, or had until a replay ended it. */
interface Access {
  team: string
  organisation: string
  scopes: string[]
  /** Unix milliseconds. */
  replayedAt: number | null
}

const selectClients = (request: string) =>
  `(SELECT coalesce(json_agg(json_build_object('scopes', scopes, 'purpose', purpose) ORDER BY client.id), '[]')
              FROM "Client" client WHERE client."appId" = ${request}."appId" AND environment = 'production' AND state = 'active')`

const statements = {
  /** The pause until the next attempt is as long as the mail has waited, from a minute on. */
  take: statement(
    'mail_take',
    `WITH taken AS (UPDATE "Mail" SET "nextAt" = $now::timestamptz + greatest($now::timestamptz - "createdAt", '1 minute')
        WHERE id = (SELECT id FROM "Mail" WHERE "nextAt" <= $now::timestamptz ORDER BY "nextAt" LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING *)
      SELECT taken.id, kind, language, about,
        CASE WHEN "Team".id IS NOT NULL THEN json_build_object('id', "Team".id, 'name', "Team".name) END AS team,
        CASE WHEN taken."consentId" IS NULL OR allowed.access IS NOT NULL
          THEN coalesce(person.email, invitation.email, asked.email) END AS "to",
        CASE WHEN invitation.id IS NOT NULL THEN json_build_object('role', invitation.role, 'by', ${personLabel('inviter')},
          'expiresAt', ${unixMs('invitation."expiresAt"')}) END AS invitation, asked.request, allowed.access
      FROM taken LEFT JOIN "Team" ON "Team".id = taken."teamId" LEFT JOIN "Person" person ON person.id = taken."personId"
        LEFT JOIN "TeamInvitation" invitation ON invitation.id = taken."invitationId"
          AND "acceptedAt" IS NULL AND "expiresAt" > $now::timestamptz
        LEFT JOIN "Person" inviter ON inviter.id = invitation."invitedBy"
        LEFT JOIN LATERAL (SELECT administrator.email, json_build_object('club', club.id, 'clubName', ${organisationLabel('club')},
            'by', (SELECT ${personLabel('asker')} FROM "Person" asker WHERE asker.id = taken."askedBy"),
            'clients', ${selectClients('approval')}) AS request
          FROM "ClubApproval" approval JOIN "Organisation" club ON club.id = approval."organisationId"
            JOIN "Person" administrator ON administrator.id = taken."administratorId"
            JOIN "Membership" own ON own."organisationId" = club.id AND own."personId" = administrator.id AND own.administrator
              AND ("leftAt" IS NULL OR "leftAt" > $now::timestamptz)
          WHERE approval.id = taken."approvalId" AND approval.state = 'requested'
          UNION ALL SELECT person.email, json_build_object('club', club.id, 'clubName', ${organisationLabel('club')},
            'by', ${personLabel('child')}, 'clients', ${selectClients('request')},
            'child', json_build_object('scopes', request.scopes, 'isGuardian', decider."isGuardian"))
          FROM "ChildRequest" request JOIN "Organisation" club ON club.id = request."organisationId"
            JOIN "Person" child ON child.id = request."childId" CROSS JOIN LATERAL ${DECIDERS.replaceAll('$at', '$now')} decider
            JOIN "Person" person ON person.id = decider.id
          WHERE request.id = taken."childRequestId" AND request.state = 'requested' AND decider.id = taken."administratorId") asked ON true
        LEFT JOIN LATERAL (SELECT json_build_object('team', team.name, 'organisation', ${organisationLabel('organisation')},
            'scopes', consent.scopes, 'replayedAt', ${unixMs('"replayedAt"')}) AS access
          FROM "Consent" consent JOIN "Client" client ON client.id = consent."clientId" JOIN "Team" team ON team.id = client."teamId"
            JOIN "Organisation" organisation ON organisation.id = consent."organisationId"
          WHERE consent.id = taken."consentId" AND (taken.kind = 'accessReplayed' OR "withdrawnAt" IS NULL)) allowed ON true`,
    { now: instant },
    {
      id: text,
      kind: oneOf(...Object.values(MailKind)),
      language: oneOf(...Object.values(Language)),
      about: json<About>(),
      /** Null for one about the request for a team, or about a consent. */
      team: nullable(json<{ id: string; name: string }>()),
      to: nullable(text),
      /** Null once it is withdrawn, answered or expired, and for other mails. */
      invitation: nullable(json<Invitation>()),
      /** Null once it is decided on, or the person does not decide, and for other mails. */
      request: nullable(json<ClubRequest>()),
      /** Null once the member has withdrawn it, and for other mails. */
      access: nullable(json<Access>()),
    },
  ),
  end: statement('mail_end', `UPDATE "Mail" SET "nextAt" = NULL WHERE id = $id`, { id: text }, {}),
}

export type DueMail = ReturnType<typeof statements.take.decode>

/** The mail that has been due for the longest time; another node takes it a minute later unless it is ended. */
export const takeMail = async (db: Database, now: number): Promise<DueMail | undefined> =>
  (await db.execute(statements.take, { now }))[0]

/** No more attempts. */
export const endMail = async (db: Database, id: string): Promise<void> => {
  await db.execute(statements.end, { id })
}
