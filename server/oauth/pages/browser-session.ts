import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider, Session as ProviderSession } from 'oidc-provider'
import type { Session } from '../../browser/page-routes.ts'
import { SESSION_SECONDS } from '../keys/lifetimes.ts'

/** The browser's oidc-provider session, for pages that oidc-provider does not serve. */
export async function browserSession(provider: Provider, req: IncomingMessage, res: ServerResponse): Promise<Session> {
  const context = provider.createContext(req, res)
  const session: ProviderSession & { id?: string } = await provider.Session.get(context)
  const name = provider.cookieName('session')
  const secure = provider.issuer.startsWith('https:')
  const attributes = { signed: true, httpOnly: true, sameSite: 'lax', path: '/', secure, overwrite: true } as const

  return {
    person: session.accountId,
    uid: session.uid,
    since: session.loginTs,
    async signIn(accountId, at) {
      // A new id, so that one known to an attacker is worthless (session fixation).
      const fresh = new provider.Session()
      if (session.accountId !== undefined) await session.destroy()
      // A person who signs in again is not asked again for existing consents.
      if (session.accountId === accountId) fresh.authorizations = session.authorizations
      fresh.loginAccount({ accountId, loginTs: Math.floor(at / 1000) })
      await fresh.save(SESSION_SECONDS)
      context.cookies.set(name, fresh.jti, { ...attributes, maxAge: SESSION_SECONDS * 1000 })
    },
    async signOut() {
      if (session.accountId !== undefined) await session.destroy()
      context.cookies.set(name, null, attributes)
    },
  }
}
