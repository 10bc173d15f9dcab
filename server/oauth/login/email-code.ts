import { createHash, randomInt, randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../../prisma/client.ts'
import { bool, statement, text } from '../../../prisma/pg/statement.ts'
import type { Language } from '../pages/views.ts'
import { comparableEmail } from './address.ts'
import { codeMail } from './code-mail.ts'
import type { SendMail } from './mail.ts'
import type { Person } from './persons.ts'
import { membersWithEmail, named } from './persons.ts'
import { senderLimit } from './sender-limit.ts'

export interface EmailCodes {
  /**
   * Sends a code if a member has this e-mail address. Neither the result nor the duration reveals whether one has.
   * `address` is the visitor's IP address.
   */
  send(
    interaction: string,
    email: string,
    language: Language,
    address: string,
  ): Promise<'sent' | 'emailInvalid' | 'tooOften'>
  /** The members with the address that the code was sent to. */
  check(interaction: string, code: string): Promise<{ persons: Person[] } | 'codeWrong' | 'codeExpired'>
}

interface Options {
  db: Database
  now: () => number
  sendMail: SendMail
  onError: (error: unknown) => void
}

const HOUR_MS = 3_600_000
const VALID_MS = 600_000
const MAX_TRIES = 5
/** In an hour, to one e-mail address. */
export const MAX_MAILS_TO_ADDRESS = 5

/** The mail is sent after the response, so that response times do not reveal whether an address is known. */
const SEND_DELAY_MS = 50

export function emailCodes({ db, now, sendMail, onError }: Options): EmailCodes {
  const isWithinLimit = senderLimit()

  const deliver = async (email: string, code: string, language: Language) => {
    const [member] = await membersWithEmail(db, email, now())
    // To the member's address as stored, never as typed by the visitor.
    if (member) await sendMail({ to: member.email, ...codeMail(code, language) })
  }

  return {
    async send(interaction, typed, language, address) {
      const email = comparableEmail(typed)
      if (email === null) return 'emailInvalid'
      if (!(await isWithinLimit(address))) return 'tooOften'
      const code = String(randomInt(100_000_000)).padStart(8, '0')
      const saved = await db.$transaction((tx) => saveCode(tx, { interaction, email, code, now: now() }))
      if (!saved) return 'tooOften'
      setTimeout(() => deliver(email, code, language).catch(onError), SEND_DELAY_MS)
      return 'sent'
    },

    async check(interaction, typed) {
      const hash = hashOf(interaction, typed.replace(/\D/g, ''))
      const [tried] = await db.execute(tryCode, [interaction, hash, new Date(now()).toISOString()])
      if (!tried) return 'codeExpired'
      if (!tried.isRight) return 'codeWrong'
      const persons = await membersWithEmail(db, tried.email, now())
      // Without such a member (any more) no code can succeed.
      return persons.length > 0 ? { persons: named(persons) } : 'codeExpired'
    },
  }
}

const hashOf = (interaction: string, code: string) =>
  createHash('sha256').update(`${interaction}:${code}`).digest('hex')

/** Counts the try and uses up a correct code in one statement: concurrent requests get no extra tries. */
const tryCode = statement(
  'login_try_code',
  `UPDATE "LoginCode" SET tries = CASE WHEN hash = $2 THEN ${MAX_TRIES} ELSE tries + 1 END
    WHERE interaction = $1 AND tries < ${MAX_TRIES} AND "expiresAt" > $3
    RETURNING email, hash = $2 AS "isRight"`,
  { email: text, isRight: bool },
)

/** Replaces the interaction's code; false if the address has had its mails for this hour. */
async function saveCode(
  tx: Transaction,
  { interaction, email, code, now }: { interaction: string; email: string; code: string; now: number },
): Promise<boolean> {
  // Concurrent requests of one interaction or to one address would not count each other. Locked always in this order.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${lockOf('interaction', interaction)}::int8)`
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${lockOf('email', email)}::int8)`
  const sent = await tx.loginCode.count({ where: { email, sentAt: { gt: new Date(now - HOUR_MS) } } })
  if (sent >= MAX_MAILS_TO_ADDRESS) return false
  // The earlier code still counts as a mail, but can no longer be tried.
  await tx.loginCode.updateMany({
    where: { interaction },
    data: { interaction: `replaced:${randomUUID()}`, tries: MAX_TRIES },
  })
  const times = { sentAt: new Date(now), expiresAt: new Date(now + VALID_MS) }
  await tx.loginCode.createMany({ data: { interaction, email, hash: hashOf(interaction, code), ...times } })
  return true
}

const lockOf = (kind: string, name: string) =>
  createHash('sha256').update(`login code ${kind} ${name}`).digest().readBigInt64BE()

/** Deletes the codes that no longer count towards the hourly limit, and returns their number. */
export async function deleteExpiredCodes(db: Database, now: number): Promise<number> {
  const { count } = await db.loginCode.deleteMany({ where: { expiresAt: { lte: new Date(now - HOUR_MS + VALID_MS) } } })
  return count
}
