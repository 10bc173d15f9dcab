import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../../prisma/client.ts'
import { comparableEmail } from '../../../routers/kernel/email-address.ts'
import { inAscii } from '../../../routers/kernel/equal-texts.ts'
import type { Limits } from '../../limits/limit.ts'
import { requestLimit } from '../../limits/limit.ts'
import type { Words } from '../words/words.ts'
import { codeMail } from './code-mail.ts'
import type { LoginCode, Sender } from './login-codes.ts'
import { releaseCode, saveCode, senderName, tryCode } from './login-codes.ts'
import type { SendMail } from './mail.ts'
import type { Person } from './persons.ts'
import { findAddress, personsOrInvited } from './persons.ts'

export interface EmailCodes {
  /** Sends a code if a member has this e-mail address. Neither the result nor the duration reveals whether one has. */
  send(interaction: string, email: string, w: Words, sender: Sender): Promise<'sent' | 'emailInvalid' | 'tooOften'>
  check(interaction: string, code: string): Promise<{ email: string; persons: Person[] } | 'codeWrong' | 'codeExpired'>
  /** Resolves once the mails of all codes have been sent, or have failed. */
  settled(): Promise<unknown>
}

interface Options {
  db: Database
  now: () => number
  sendMail: SendMail
  onError: (error: unknown) => void
  limits: Limits
  brand?: string | undefined
}

/** Requests per minute of a sender, for any address: limits the rows that a flood creates. */
export const MAX_REQUESTS_OF_SENDER = 60

/** The mail is sent after the response, so that response times do not reveal whether an address is known. */
const SEND_DELAY_MS = 50

export function emailCodes({ db, now, sendMail, onError, limits, brand }: Options): EmailCodes {
  const isWithinLimit = requestLimit(limits, 'codes', MAX_REQUESTS_OF_SENDER)

  const underWay = new Set<Promise<unknown>>()

  const deliver = async (saved: LoginCode, w: Words) => {
    const address = await findAddress(db, saved.email, now())
    // Unknown addresses use up no mail allowance. Only the recipient sees whether a mail was sent.
    if (address === null || !(await releaseCode(db, saved))) return
    // To the address as stored, never as typed by the visitor.
    await sendMail({ to: address, ...codeMail(saved.code, w, brand) })
  }

  return {
    async send(interaction, typed, w, from) {
      const email = comparableEmail(typed)
      if (email === null) return 'emailInvalid'
      const sender = senderName(from)
      if (!(await isWithinLimit(sender))) return 'tooOften'
      const code = String(randomInt(100_000_000)).padStart(8, '0')
      const login = { interaction, email, code, sender, now: now() }
      if (!(await db.$transaction((tx) => saveCode(tx, login)))) return 'tooOften'
      const sent = sleep(SEND_DELAY_MS)
        .then(() => deliver(login, w))
        .catch(onError)
        .finally(() => underWay.delete(sent))
      underWay.add(sent)
      return 'sent'
    },

    async check(interaction, typed) {
      const tried = await tryCode(db, { interaction, code: inAscii(typed).replace(/\D/g, ''), now: now() })
      if (!tried) return 'codeExpired'
      if (!tried.isRight) return 'codeWrong'
      const { email } = tried
      const persons = await personsOrInvited(db, email, now())
      // Without such a person (any more) no code can succeed.
      return persons.length > 0 ? { email, persons } : 'codeExpired'
    },

    settled: () => Promise.all(underWay),
  }
}
