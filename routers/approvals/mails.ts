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

/** @param asked SQL of what was asked, as `request`, with each `person` who gets a mail. */
const queueTo = (kind: MailKind, columns: string, values: string, asked: string) =>
  `INSERT INTO "Mail" (id, kind, "teamId", "administratorId", ${columns}, language, about, "createdAt", "nextAt")
      SELECT gen_random_uuid()::text, '${kind}', app."teamId", person.id, ${values},
        coalesce(settings.language, person."preferredLanguage", $language::"Language"), jsonb_build_object('name', app.name, 'app', app.id),
        $at::timestamptz, $at::timestamptz
      FROM ${asked} JOIN "App" app ON app.id = request."appId" LEFT JOIN "MailSettings" settings ON settings."personId" = person.id
      WHERE request.id = $request AND ('${kind}' = ANY (off)) IS NOT TRUE AND (SELECT count(*) FROM "Mail" former
        WHERE former."administratorId" = person.id AND former."createdAt" > $since::timestamptz) < ${MAILS_TO_ADMINISTRATOR}
      ORDER BY person.id LIMIT ${MAILED_ADMINISTRATORS} ON CONFLICT ("approvalId", "administratorId") DO NOTHING`

const ADMINISTRATORS = `"ClubApproval" request
        JOIN "Membership" own ON own."organisationId" = request."organisationId" AND administrator
          AND ("leftAt" IS NULL OR "leftAt" > $at::timestamptz)
        JOIN "Person" person ON person.id = own."personId"`
const CHILD_DECIDERS = `"ChildRequest" request CROSS JOIN LATERAL ${DECIDERS} own JOIN "Person" person ON person.id = own.id`

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
    queueTo('approvalRequested', '"approvalId", "askedBy"', 'request.id, $asker', ADMINISTRATORS),
    { ...parameters, asker: text },
    {},
  ),
  queueForChild: statement(
    'child_mails_queue',
    queueTo('guardianAsked', '"childRequestId"', 'request.id', CHILD_DECIDERS),
    parameters,
    {},
  ),
}

/**
 * Queues a mail to each administrator of the club who has not switched them off, in their language, else that of the asker; of a
 * child's request, to those who decide for it.
 */
export async function queueRequest(tx: Transaction, { request, club, asker, at }: Asked, isOfChild = false) {
  const { person, language } = asker
  const values = { request, language, at, since: at - DAY_MS }
  await executeIn(tx, statements.lock, { club })
  if (isOfChild) await executeIn(tx, statements.queueForChild, values)
  else await executeIn(tx, statements.queue, { ...values, asker: person })
}
