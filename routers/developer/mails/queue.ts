import { randomUUID } from 'node:crypto'
import type { Transaction } from '../../../prisma/client.ts'
import { Language, MailKind } from '../../../prisma/generated/enums.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { bool, instant, json, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { hasMailbox } from '../../kernel/mailboxes.ts'
import { DAY_MS } from '../../kernel/time.ts'

/** What a mail's sentences name, and the page that it links to: the client's, else the app's. */
export interface About {
  /** The name of the client or app. */
  name: string
  app?: string | undefined
  client?: string | undefined
  /** The name is that of a team. */
  isTeam?: boolean
  /** A client that nobody could use before. */
  isNew?: boolean
  /** Why the operator refused. */
  reason?: string
  /** Subscriptions. */
  count?: number
  /** The addresses of the team among them. */
  addresses?: string[]
  /** More than the member had allowed before. */
  isMore?: boolean
  /** A secret's end, in Unix seconds. */
  expiresAt?: number
  isExpired?: boolean
}

interface TeamMail {
  kind: Exclude<MailKind, 'invitation'>
  team: string
  to: 'owners' | 'everyone'
  about: About
  at: Date
}

/**
 * SQL that queues a mail for the people of a team who have not switched off its type, for each row of `reports`: with `kind`,
 * `team` and `about`. `at` and `everyone` are expressions; without `everyone`, only owners get it.
 */
export const queueReports = (reports: string, at: string, everyone = 'true') => `
  INSERT INTO "Mail" (id, kind, "teamId", "personId", language, about, "createdAt", "nextAt")
    SELECT gen_random_uuid()::text, kind, "teamId", "personId", coalesce(language, 'en'), about, ${at}, ${at}
    FROM ${reports} JOIN "TeamMember" ON "teamId" = team LEFT JOIN "MailSettings" USING ("personId")
    WHERE (role = 'owner' OR ${everyone}) AND (kind = ANY (off)) IS NOT TRUE`

const statements = {
  report: statement(
    'mail_queue',
    queueReports(
      '(SELECT $kind::"MailKind" AS kind, $team::text AS team, $about::jsonb AS about) report',
      '$at::timestamptz',
      '$toEveryone::bool',
    ),
    { kind: oneOf(...Object.values(MailKind)), team: text, about: json<About>(), at: instant, toEveryone: bool },
    {},
  ),
  person: statement(
    'mail_queue_person',
    `INSERT INTO "Mail" (id, kind, "personId", language, about, "createdAt", "nextAt")
      SELECT gen_random_uuid()::text, kind, person, coalesce(language, 'en'), $about::jsonb, $at::timestamptz, $at::timestamptz
      FROM (SELECT $kind::"MailKind" AS kind, $person::text AS person) report LEFT JOIN "MailSettings" ON "personId" = person
      WHERE (kind = ANY (off)) IS NOT TRUE`,
    { kind: oneOf(...Object.values(MailKind)), person: text, about: json<About>(), at: instant },
    {},
  ),
  settings: statement(
    'mail_settings_of_address',
    `SELECT language, coalesce('invitation' = ANY (off), false) AS "isOff" FROM "MailSettings" JOIN "Person" ON id = "personId"
      WHERE ${hasMailbox('$email')} LIMIT 1`,
    { email: text },
    { language: oneOf(...Object.values(Language)), isOff: bool },
  ),
}

/** Queues a mail for the people of a team who have not switched off its type, with the change that it reports. */
export async function queueMails(tx: Transaction, { kind, team, to, about, at }: TeamMail): Promise<void> {
  await executeIn(tx, statements.report, { kind, team, about, at, toEveryone: to === 'everyone' })
}

/** The same for a person who has asked for a team, and need not be in one. */
export async function queueToPerson(
  tx: Transaction,
  mail: Pick<TeamMail, 'kind' | 'about' | 'at'> & { person: string },
): Promise<void> {
  await executeIn(tx, statements.person, mail)
}

/** A request waits for the operator now. */
export const queueReceived = (tx: Transaction, { team, at }: Pick<TeamMail, 'team' | 'at'>, about: About) =>
  queueMails(tx, { kind: 'requestReceived', team, to: 'owners', about, at })

/** Invitations mailed in 24 hours: nobody can use a team to mail strangers. */
export const [MAILS_OF_TEAM, MAILS_TO_ADDRESS] = [20, 3]

interface Invitation {
  id: string
  team: string
  email: string
  /** Null for the operator. */
  by: string | null
  at: Date
}

/**
 * Queues the mail of an invitation, in the language of the invited person, else of the inviter; the team is locked. Returns
 * false when the team or the address has reached its limit of the day, and when a person with the address has switched it off.
 */
export async function queueInvitation(tx: Transaction, { id, team, email, by, at }: Invitation): Promise<boolean> {
  const kind = 'invitation' as const
  const lastDay = { kind, createdAt: { gt: new Date(at.getTime() - DAY_MS) } }
  if ((await tx.mail.count({ where: { ...lastDay, teamId: team } })) >= MAILS_OF_TEAM) return false
  if ((await tx.mail.count({ where: { ...lastDay, email } })) >= MAILS_TO_ADDRESS) return false
  const [own] = await executeIn(tx, statements.settings, { email })
  if (own?.isOff) return false
  const inviter = by === null ? null : await tx.mailSettings.findUnique({ where: { personId: by } })
  const language = own?.language ?? inviter?.language ?? 'en'
  const about = { name: '' }
  const data = { id: randomUUID(), kind, teamId: team, email, invitationId: id, language, about }
  await tx.mail.create({ data: { ...data, createdAt: at, nextAt: at }, select: { id: true } })
  return true
}
