import type { Database } from '../../prisma/client.ts'
import type { Limits } from '../limits/limit.ts'
import type { EmailCodes } from './login/email-code.ts'
import { emailCodes } from './login/email-code.ts'
import { createMailer } from './login/mail.ts'
import type { Upstream } from './login/upstream.ts'
import { createUpstream } from './login/upstream.ts'
import { upstreamCallback } from './metadata.ts'

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
  authBaseUrl: string
  developmentLogin: boolean
}

interface Options {
  db: Database
  now: () => number
  /** For mails that could not be sent: their requests have been answered by then. */
  onError: (error: unknown) => void
  limits?: Limits | undefined
}

export const createLoginMethods = (
  { smtp, upstream, authBaseUrl, developmentLogin }: LoginSettings,
  { db, now, onError, limits }: Options,
): LoginMethods => ({
  codes: smtp && emailCodes({ db, now, sendMail: createMailer(smtp.url, smtp.from), onError, limits }),
  upstream: upstream && createUpstream({ ...upstream, redirectUri: upstreamCallback(authBaseUrl) }, now),
  developmentLogin,
})
