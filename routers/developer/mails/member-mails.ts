import type { Transaction } from '../../../prisma/client.ts'
import { MailKind } from '../../../prisma/generated/enums.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../../kernel/access.ts'
import { DAY_MS } from '../../kernel/time.ts'

/** About a member's own access, for their security: they cannot switch them off. */
const memberMails = [MailKind.accessGranted, MailKind.accessReplayed, MailKind.deviceAllowed] as const
type MemberMail = (typeof memberMails)[number]

export type PortalMail = Exclude<MailKind, MemberMail>
export const isPortalMail = (kind: MailKind): kind is PortalMail => !memberMails.some((one) => one === kind)
export const portalMails = Object.values(MailKind).filter(isPortalMail)

/** Mails of a kind to a member in 24 hours: the page of connected apps has the others. */
export const MAILS_TO_MEMBER = 20

const statements = {
  /** Consents at once are compared and counted one after the other. */
  lock: statement(
    'member_mails_lock',
    'SELECT id FROM "Person" WHERE id = $person FOR NO KEY UPDATE',
    { person: text },
    { id: text },
  ),
  /** `accessGranted` only where the member's other consents in force to the client lack a scope. */
  queue: statement(
    'member_mails_queue',
    `INSERT INTO "Mail" (id, kind, "personId", "consentId", language, about, "createdAt", "nextAt")
      SELECT gen_random_uuid()::text, $kind::"MailKind", person.id, consent.id, coalesce(person."preferredLanguage", 'en'),
        jsonb_build_object('name', coalesce(app.name, client.name), 'isMore', $kind::"MailKind" = 'accessGranted' AND former.scopes IS NOT NULL),
        $at::timestamptz, $at::timestamptz
      FROM "Consent" consent JOIN "Person" person ON person.id = consent."personId"
        JOIN "Organisation" organisation ON organisation.id = consent."organisationId"
        JOIN "Client" client ON client.id = consent."clientId" LEFT JOIN "App" app ON app.id = client."appId"
        CROSS JOIN LATERAL (SELECT array_agg(scope) AS scopes FROM "Consent" other CROSS JOIN unnest(other.scopes) scope
          WHERE other."personId" = person.id AND other."clientId" = client.id AND other."organisationId" = organisation.id
            AND other.id <> consent.id AND other."withdrawnAt" IS NULL AND other."createdAt" > $consentedAfter::timestamptz) former
      WHERE consent.id = $consent AND client.environment = 'production' AND client."teamId" IS NOT NULL
        AND organisation."testTeamId" IS NULL
        AND ($kind::"MailKind" <> 'accessGranted' OR (consent.scopes <@ former.scopes) IS NOT TRUE)
        AND (SELECT count(*) FROM "Mail" sent WHERE sent."personId" = person.id AND sent.kind = $kind::"MailKind"
          AND sent."createdAt" > $since::timestamptz) < ${MAILS_TO_MEMBER}
      ON CONFLICT ("consentId", kind) DO NOTHING`,
    { kind: oneOf(...Object.values(MailKind)), consent: text, at: instant, consentedAfter: instant, since: instant },
    {},
  ),
}

/** At the beginning of the transaction, as an erasure locks the person first. */
export async function lockMember(tx: Transaction, person: string): Promise<void> {
  await executeIn(tx, statements.lock, { person })
}

/**
 * Queues a mail about a consent of a locked member, in the language of their last page; none about test clubs and sandbox
 * clients.
 */
export async function queueMemberMail(
  tx: Transaction,
  { kind, consent, at }: { kind: MemberMail; consent: string; at: number },
): Promise<void> {
  await executeIn(tx, statements.queue, { kind, consent, at, consentedAfter: at - CONSENT_MS, since: at - DAY_MS })
}
