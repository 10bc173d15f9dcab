import type { Database } from '../../../prisma/client.ts'
import { Language, MailKind } from '../../../prisma/generated/enums.ts'
import { instant, nullable, oneOf, statement, text, timestamp } from '../../../prisma/pg/statement.ts'
import { personLabel } from '../../kernel/labels.ts'
import type { About } from './queue.ts'

const statements = {
  /** The pause until the next attempt is as long as the mail has waited, from a minute on. */
  take: statement(
    'mail_take',
    `WITH taken AS (UPDATE "Mail" SET "nextAt" = $now::timestamptz + greatest($now::timestamptz - "createdAt", '1 minute')
        WHERE id = (SELECT id FROM "Mail" WHERE "nextAt" <= $now::timestamptz ORDER BY "nextAt" LIMIT 1 FOR UPDATE SKIP LOCKED)
        RETURNING *)
      SELECT taken.id, kind, language, about::text, "Team".id AS team, "Team".name AS "teamName",
        coalesce(person.email, invitation.email) AS "to", invitation.role, invitation."expiresAt",
        ${personLabel('inviter')} AS by
      FROM taken LEFT JOIN "Team" ON "Team".id = taken."teamId" LEFT JOIN "Person" person ON person.id = taken."personId"
        LEFT JOIN "TeamInvitation" invitation ON invitation.id = taken."invitationId"
          AND "acceptedAt" IS NULL AND "expiresAt" > $now::timestamptz
        LEFT JOIN "Person" inviter ON inviter.id = invitation."invitedBy"`,
    { now: instant },
    {
      id: text,
      kind: oneOf(...Object.values(MailKind)),
      language: oneOf(...Object.values(Language)),
      about: text,
      team: nullable(text),
      teamName: nullable(text),
      to: nullable(text),
      role: nullable(oneOf('owner', 'developer')),
      expiresAt: nullable(timestamp),
      by: nullable(text),
    },
  ),
  end: statement('mail_end', `UPDATE "Mail" SET "nextAt" = NULL WHERE id = $id`, { id: text }, {}),
}

export type DueMail = NonNullable<Awaited<ReturnType<typeof takeMail>>>

/** The mail that has been due for the longest time; another node takes it a minute later unless it is ended. */
export async function takeMail(db: Database, now: number) {
  const [row] = await db.execute(statements.take, { now })
  if (!row) return undefined
  const { about, team, teamName, by, role, expiresAt, ...mail } = row
  return {
    ...mail,
    /** Null for one about the request for a team. */
    team: team === null ? null : { id: team, name: teamName! },
    about: JSON.parse(about) as About,
    /** Null once it is withdrawn, answered or expired, and for other mails. The operator has no name. */
    invitation:
      role && expiresAt
        ? {
            role,
            expiresAt: new Date(expiresAt),
            by,
          }
        : null,
  }
}

/** No more attempts. */
export const endMail = async (db: Database, id: string): Promise<void> => {
  await db.execute(statements.end, { id })
}
