import type { Database } from '../../../prisma/client.ts'
import type { Limits } from '../../limits/limit.ts'
import type { EmailCodes } from './email-code.ts'
import { emailCodes } from './email-code.ts'
import type { Upstream } from './upstream.ts'

/** How members can sign in. */
export interface LoginMethods {
  codes: EmailCodes | null
  upstream: Upstream | null
  /** For development only: visitors choose the member they want to be. */
  developmentLogin: boolean
}

interface LoginSettings {
  smtp: { url: string; from: string } | null
  upstream: { issuer: string; clientId: string; clientSecret?: string; name: string } | null
  /** Of the authorization server, which is registered with the upstream provider. */
  redirectUri: string
  developmentLogin: boolean
}

interface Options {
  db: Database
  now: () => number
  /** For mails that could not be sent: their requests have been answered by then. */
  onError: (error: unknown) => void
  limits: Limits
  /** The operator's name, for mails. */
  brand?: string | undefined
}

/** Loads the client of the mail server, or of the OpenID provider, only where it is used. */
export async function createLoginMethods(
  { smtp, upstream, redirectUri, developmentLogin }: LoginSettings,
  { db, now, onError, limits, brand }: Options,
): Promise<LoginMethods> {
  const sendMail = smtp && (await import('./mail.ts')).createMailer(smtp.url, smtp.from, brand)
  return {
    codes: sendMail && emailCodes({ db, now, sendMail, onError, limits, brand }),
    upstream: upstream && (await import('./upstream.ts')).createUpstream({ ...upstream, redirectUri }, now),
    developmentLogin,
  }
}
