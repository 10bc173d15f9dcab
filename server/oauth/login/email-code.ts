import { createHash, randomInt, randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../../prisma/client.ts'
import { bool, statement, text } from '../../../prisma/pg/statement.ts'
import type { Language } from '../pages/pages.ts'
import { comparableEmail } from './address.ts'
import { codeMail } from './code-mail.ts'
import type { SendMail } from './mail.ts'
import type { Person } from './persons.ts'
import { membersWithEmail, named } from './persons.ts'
import { senderLimit } from './sender-limit.ts'

export interface EmailCodes {
  /** Sends a code, if a member has that address; the same answer and time whether or not. `address` is the sender's own. */
  send(
    interaction: string,
    email: string,
    language: Language,
    address: string,
  ): Promise<'sent' | 'emailInvalid' | 'tooOften'>
  /** Whose code it is; the persons that share the address. */
  check(interaction: string, code: string): Promise<{ persons: Person[] } | 'codeWrong' | 'codeExpired'>
}

interface Parts {
  db: Database
  now: () => number
  sendMail: SendMail
  onError: (error: unknown) => void
}

const HOUR_MS = 3_600_000
const VALID_MS = 600_000
const TRIES = 5
/** Mails an hour to one address. */
export const MAILS_TO_AN_ADDRESS = 5

/** Late enough for the answer to be on its way: whether a mail follows does not show in how long it takes. */
const AFTER_THE_ANSWER_MS = 50

export function emailCodes({ db, now, sendMail, onError }: Parts): EmailCodes {
  const admits = senderLimit()

  const deliver = async (email: string, code: string, language: Language) => {
    const [member] = await membersWithEmail(db, email, now())
    // To the address as it was entered for the member, never as the sender wrote it.
    if (member) await sendMail({ to: member.email, ...codeMail(code, language) })
  }

  return {
    async send(interaction, typed, language, address) {
      const email = comparableEmail(typed)
      if (email === null) return 'emailInvalid'
      if (!(await admits(address))) return 'tooOften'
      const code = String(randomInt(100_000_000)).padStart(8, '0')
      const kept = await db.$transaction((tx) => keep(tx, { interaction, email, code, now: now() }))
      if (!kept) return 'tooOften'
      setTimeout(() => deliver(email, code, language).catch(onError), AFTER_THE_ANSWER_MS)
      return 'sent'
    },

    async check(interaction, typed) {
      const hash = hashOf(interaction, typed.replace(/\D/g, ''))
      const [tried] = await db.execute(tryCode, [interaction, hash, new Date(now()).toISOString()])
      if (!tried) return 'codeExpired'
      if (!tried.isRight) return 'codeWrong'
      const persons = await membersWithEmail(db, tried.email, now())
      // Of nobody, or of somebody who has left since: another try would lead nowhere.
      return persons.length > 0 ? { persons: named(persons) } : 'codeExpired'
    },
  }
}

const hashOf = (interaction: string, code: string) =>
  createHash('sha256').update(`${interaction}:${code}`).digest('hex')

/** Counts the try and spends a right code in one statement, so that twins neither get more tries nor come in twice. */
const tryCode = statement(
  'login_try_code',
  `UPDATE "LoginCode" SET tries = CASE WHEN hash = $2 THEN ${TRIES} ELSE tries + 1 END
    WHERE interaction = $1 AND tries < ${TRIES} AND "expiresAt" > $3
    RETURNING email, hash = $2 AS "isRight"`,
  { email: text, isRight: bool },
)

/** Keeps the code in place of the interaction's earlier one; false when the address has had its mails of this hour. */
async function keep(
  tx: Transaction,
  { interaction, email, code, now }: { interaction: string; email: string; code: string; now: number },
): Promise<boolean> {
  // One after the other for each interaction and each address, always in this order; else twins would not count each other.
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${lockOf('interaction', interaction)}::int8)`
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${lockOf('email', email)}::int8)`
  const sent = await tx.loginCode.count({ where: { email, sentAt: { gt: new Date(now - HOUR_MS) } } })
  if (sent >= MAILS_TO_AN_ADDRESS) return false
  // The earlier one stays as a mail that counts, and can no longer be tried.
  await tx.loginCode.updateMany({
    where: { interaction },
    data: { interaction: `replaced:${randomUUID()}`, tries: TRIES },
  })
  const times = { sentAt: new Date(now), expiresAt: new Date(now + VALID_MS) }
  await tx.loginCode.createMany({ data: { interaction, email, hash: hashOf(interaction, code), ...times } })
  return true
}

const lockOf = (kind: string, name: string) =>
  createHash('sha256').update(`login code ${kind} ${name}`).digest().readBigInt64BE()

/** Deletes the codes that are no longer counted as mails of the hour, and says how many. */
export async function forgetExpiredCodes(db: Database, now: number): Promise<number> {
  const { count } = await db.loginCode.deleteMany({ where: { expiresAt: { lte: new Date(now - HOUR_MS + VALID_MS) } } })
  return count
}
