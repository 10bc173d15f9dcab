import type { Database } from '../../prisma/client.ts'
import { endMail, takeMail } from '../../routers/developer/mails/due.ts'
import { comparableEmail } from '../../routers/kernel/email-address.ts'
import type { SendMail } from '../browser/login/mail.ts'
import { MailFailure } from '../browser/login/mail.ts'
import type { AllWords } from '../browser/words/words.ts'
import { renderMessage } from './message.ts'

interface Options {
  sendMail: SendMail
  /** Where the pages are that mails link to. */
  issuer: string
  brand: string | undefined
  words: AllWords
  failed: (error: MailFailure) => void
}

/**
 * Sends the mail that has been due for the longest time, and returns 1; 0 when none is due, or when the mail server is not
 * available: it is tried again later. A process that ends meanwhile has sent the mail twice at most.
 */
export const mailSender =
  ({ sendMail, failed, ...place }: Options) =>
  async (db: Database, now: number): Promise<number> => {
    const mail = await takeMail(db, now)
    if (!mail) return 0
    try {
      if (mail.to !== null && comparableEmail(mail.to) !== null) {
        await sendMail({ to: mail.to, id: mail.id, ...renderMessage(mail, place) })
      }
    } catch (error) {
      if (!(error instanceof MailFailure)) throw error
      failed(error)
      if (error.refused === null) return 0
    }
    await endMail(db, mail.id)
    return 1
  }
