import type { Transaction } from '../../prisma/client.ts'
import { Language } from '../../prisma/generated/enums.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { instant, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { DAY_MS } from '../kernel/time.ts'

/** Mails to an administrator in 24 hours, and administrators of one request: the page of the club has the others. */
export const [MAILS_TO_ADMINISTRATOR, MAILED_ADMINISTRATORS] = [10, 20]

export interface Asker {
  person: string
  /** That of the page. */
  language: Language
}

const statements = {
  /** Two requests at once are counted one after the other. */
  lock: statement(
    'approval_mails_lock',
    'SELECT id FROM "Organisation" WHERE id = $club FOR NO KEY UPDATE',
    { club: text },
    { id: text },
  ),
  queue: statement(
    'approval_mails_queue',
    `INSERT INTO "Mail" (id, kind, "teamId", "administratorId", "approvalId", "askedBy", language, about, "createdAt", "nextAt")
      SELECT gen_random_uuid()::text, 'approvalRequested', app."teamId", own."personId", approval.id, $asker,
        coalesce(settings.language, person."preferredLanguage", $language::"Language"), jsonb_build_object('name', app.name, 'app', app.id),
        $at::timestamptz, $at::timestamptz
      FROM "ClubApproval" approval JOIN "App" app ON app.id = approval."appId"
        JOIN "Membership" own ON own."organisationId" = approval."organisationId" AND administrator
          AND ("leftAt" IS NULL OR "leftAt" > $at::timestamptz)
        JOIN "Person" person ON person.id = own."personId"
        LEFT JOIN "MailSettings" settings USING ("personId")
      WHERE approval.id = $approval AND ('approvalRequested' = ANY (off)) IS NOT TRUE AND (SELECT count(*) FROM "Mail" former
        WHERE former."administratorId" = own."personId" AND former."createdAt" > $since::timestamptz) < ${MAILS_TO_ADMINISTRATOR}
      ORDER BY own."personId" LIMIT ${MAILED_ADMINISTRATORS}
      ON CONFLICT ("approvalId", "administratorId") DO NOTHING`,
    { approval: text, asker: text, language: oneOf(...Object.values(Language)), at: instant, since: instant },
    {},
  ),
}

/** Queues a mail to each administrator of the club who has not switched them off, in their language, else that of the asker. */
export async function queueRequest(
  tx: Transaction,
  { approval, club, asker, at }: { approval: string; club: string; asker: Asker; at: number },
): Promise<void> {
  await executeIn(tx, statements.lock, { club })
  const { person, language } = asker
  await executeIn(tx, statements.queue, { approval, asker: person, language, at, since: at - DAY_MS })
}
