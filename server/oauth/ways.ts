import type { Database } from '../../prisma/client.ts'
import { emailCodes } from './login/email-code.ts'
import { createMailer } from './login/mail.ts'
import { createUpstream } from './login/upstream.ts'
import { returnAddressOf } from './mount.ts'
import type { LoginMethods } from './sign-in.ts'

interface LoginSettings {
  smtp: { url: string; from: string } | null
  upstream: { issuer: string; clientId: string; clientSecret?: string; name: string } | null
  authBaseUrl: string
  /** Whether members may pick who they are: on a machine to develop on, with an embedded database. */
  pick: boolean
}

/** How members sign in. */
export const loginMethodsOf = (
  { smtp, upstream, authBaseUrl, pick }: LoginSettings,
  db: Database,
  now: () => number,
  onError: (error: unknown) => void,
): LoginMethods => ({
  codes: smtp && emailCodes({ db, now, sendMail: createMailer(smtp.url, smtp.from), onError }),
  upstream: upstream && createUpstream({ ...upstream, redirectUri: returnAddressOf(authBaseUrl) }, now),
  pick,
})
