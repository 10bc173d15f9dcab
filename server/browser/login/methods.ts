import type { Database } from '../../../prisma/client.ts'
import type { Limits } from '../../limits/limit.ts'
import type { EmailCodes } from './email-code.ts'
import { emailCodes } from './email-code.ts'
import type { SendMail } from './mail.ts'
import type { Upstream } from './upstream.ts'

export interface LoginMethods {
  codes: EmailCodes | null
  upstream: Upstream | null
  /** For development only: visitors choose the member to sign in as. */
  developmentLogin: boolean
}

interface LoginSettings {
  sendMail: SendMail | undefined
  upstream: { issuer: string; clientId: string; clientSecret?: string; name: string } | null
  redirectUri: string
  developmentLogin: boolean
}

interface Options {
  db: Database
  now: () => number
  /** Called when a mail could not be sent; the request has been answered by then. */
  onError: (error: unknown) => void
  limits: Limits
  brand?: string | undefined
}

/** Loads the OpenID client only when configured. */
export async function createLoginMethods(
  { sendMail, upstream, redirectUri, developmentLogin }: LoginSettings,
  { db, now, onError, limits, brand }: Options,
): Promise<LoginMethods> {
  return {
    codes: sendMail ? emailCodes({ db, now, sendMail, onError, limits, brand }) : null,
    upstream: upstream && (await import('./upstream.ts')).createUpstream({ ...upstream, redirectUri }, now),
    developmentLogin,
  }
}
