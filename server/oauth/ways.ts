import type { Config } from '../process/config.ts'
import type { Store } from '../process/store.ts'
import { emailCodes } from './login/email-code.ts'
import { createMailer } from './login/mail.ts'
import { createUpstream } from './login/upstream.ts'
import { returnAddressOf } from './mount.ts'
import type { LoginMethods } from './sign-in.ts'

/** How members sign in. Whoever may pick who they are is on a machine to develop on, with a database of its own. */
export const loginMethodsOf = (
  { login: { smtp, upstream }, authBaseUrl, production }: Config,
  { db, embedded }: Store,
  now: () => number,
  onError: (error: unknown) => void,
): LoginMethods => ({
  codes: smtp && emailCodes({ db, now, sendMail: createMailer(smtp.url, smtp.from), onError }),
  upstream: upstream && createUpstream({ ...upstream, redirectUri: returnAddressOf(authBaseUrl) }, now),
  pick: embedded !== null && !production,
})
