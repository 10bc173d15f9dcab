import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Task } from '../../routers/kernel/housekeeping.ts'
import { toIssuer } from '../browser/addresses.ts'
import type { SendMail } from '../browser/login/mail.ts'
import type { AllWords } from '../browser/words/words.ts'
import { mailMetrics } from '../telemetry/mail-metrics.ts'
import type { Config } from './config.ts'

/**
 * Sends the mails of a service, and counts them; undefined without a mail server. Loads the mail client only where it is needed.
 * A server that cannot be used is named in a warning, which the start does not wait for.
 */
export async function openMailer(
  { login: { smtp }, tokenIssuer, pageBrand }: Pick<Config, 'login' | 'tokenIssuer' | 'pageBrand'>,
  registry: Registry,
  log: Logger,
): Promise<SendMail | undefined> {
  const count = mailMetrics(registry)
  if (!smtp || tokenIssuer !== undefined) return undefined
  const { checkMailServer, createMailer, MailFailure } = await import('../browser/login/mail.ts')
  checkMailServer(smtp.url).catch(({ message }) => log.warn(`the mail server of SMTP_URL cannot be used: ${message}`))
  const sendMail = createMailer(smtp.url, smtp.from, pageBrand.name)
  return async (mail) => {
    try {
      await sendMail(mail)
    } catch (error) {
      count(error instanceof MailFailure && error.refused === 'recipient' ? 'refused' : 'failed')
      throw error
    }
    count('sent')
  }
}

/** Sends the mails that are due to developers, administrators of clubs and members; undefined without a mail server. */
export async function developerMails(
  { authBaseUrl, pageBrand: { name: brand } }: Config,
  words: AllWords,
  sendMail: SendMail | undefined,
  log: Logger,
): Promise<Task['step'] | undefined> {
  if (!sendMail) return undefined
  const { mailSender } = await import('../mails/send.ts')
  return mailSender({
    sendMail,
    brand,
    words,
    issuer: toIssuer(authBaseUrl),
    failed: (err) => log.warn({ err }, 'a queued mail could not be sent'),
  })
}
