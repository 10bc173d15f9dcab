import type { Transaction } from '../../prisma/client.ts'
import type { MailKind } from '../../prisma/generated/enums.ts'
import { Language } from '../../prisma/generated/enums.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { instant, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { DECIDERS } from '../kernel/consent-ages.ts'
import { DAY_MS } from '../kernel/time.ts'

/** Mails to an administrator or guardian in 24 hours, and those who get one of a request: their page has the others. */
export const [MAILS_TO_ADMINISTRATOR, MAILED_ADMINISTRATORS] = [10, 20]

export interface Asker {
  person: string
  /** That of the page. */
  language: Language
}

interface Asked {
  /** The id of its row. */
  request: string
  club: string
  asker: Asker
  at: number
}

const parameters = { request: text, language: oneOf(...Object.values(Language)), at: instant, since: instant }

interface Queued {
  kind: MailKind
  /** Beside those of every mail, with their SQL. */
  columns: string
  values: string
  /** SQL of what was asked, as `request`, with each `person` who gets a mail. */
  request: string
}

function queueTo({ kind, columns, values, request }: Queued) {
  return `INSERT INTO "Mail" (id, kind, "teamId", "administratorId", ${columns}, language, about, "createdAt", "nextAt")
      SELECT gen_random_uuid()::text, '${kind}', app."teamId", person.id, ${values},
        coalesce(settings.language, person."preferredLanguage", $language::"Language"), jsonb_build_object('name', app.name, 'app', app.id),
        $at::timestamptz, $at::timestamptz
      FROM ${request} JOIN "App" app ON app.id = request."appId" LEFT JOIN "MailSettings" settings ON settings."personId" = person.id
      WHERE request.id = $request AND ('${kind}' = ANY (off)) IS NOT TRUE AND (SELECT count(*) FROM "Mail" former
        WHERE former."administratorId" = person.id AND former."createdAt" > $since::timestamptz) < ${MAILS_TO_ADMINISTRATOR}
      ORDER BY person.id LIMIT ${MAILED_ADMINISTRATORS}
      ON CONFLICT ("approvalId", "administratorId") DO NOTHING`
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
    queueTo({
      kind: 'approvalRequested',
      columns: '"approvalId", "askedBy"',
      values: 'request.id, $asker',
      request: `"ClubApproval" request JOIN "Membership" own ON own."organisationId" = request."organisationId" AND administrator
          AND ("leftAt" IS NULL OR "leftAt" > $at::timestamptz)
        JOIN "Person" person ON person.id = own."personId"`,
    }),
    { ...parameters, asker: text },
    {},
  ),
  queueOfChild: statement(
    'child_mails_queue',
    queueTo({
      kind: 'guardianAsked',
      columns: '"childRequestId"',
      values: 'request.id',
      request: `"ChildRequest" request CROSS JOIN LATERAL ${DECIDERS} own JOIN "Person" person ON person.id = own.id`,
    }),
    parameters,
    {},
  ),
}

/** Queues a mail to each administrator of the club who has not switched them off, in their language, else that of the asker. */
export async function queueRequest(
  tx: Transaction,
  { request, club, asker: { person, language }, at }: Asked,
): Promise<void> {
  await executeIn(tx, statements.lock, { club })
  await executeIn(tx, statements.queue, { request, asker: person, language, at, since: at - DAY_MS })
}

/** The same to those who decide for a child. */
export async function queueChildRequest(tx: Transaction, { request, club, asker, at }: Asked): Promise<void> {
  await executeIn(tx, statements.lock, { club })
  await executeIn(tx, statements.queueOfChild, { request, language: asker.language, at, since: at - DAY_MS })
}
