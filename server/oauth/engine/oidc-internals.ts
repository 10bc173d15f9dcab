import type { IncomingMessage, ServerResponse } from 'node:http'
import type { IdToken, Provider } from 'oidc-provider'

// @ts-expect-error: private and without types. oidc-provider has no public way to disable its AsyncLocalStorage.
const { default: storage } = await import('oidc-provider/lib/helpers/als.js')
const active = new Set<IncomingMessage>()

/**
 * Runs one of oidc-provider's requests, and disables its AsyncLocalStorage after the last one. Before Node 24 a used
 * AsyncLocalStorage slows down every promise of the process: 461,000 instead of 359,000 instructions a PUT.
 */
export async function withRequestStorage(req: IncomingMessage, res: ServerResponse, run: () => Promise<void>) {
  active.add(req)
  const end = () => {
    if (active.delete(req) && active.size === 0) storage.disable()
  }
  // `run` waits forever for a body that was answered at the deadline and never arrived.
  res.once('close', () => !req.complete && end())
  try {
    await run()
  } finally {
    end()
  }
}

/**
 * A session has the id of its sign-in (browser-session.ts), which never happens within oidc-provider. oidc-provider changes it
 * with each consent: a browser that drops the response, because of a second click, would be signed out.
 */
export function keepSessionIds({ Session }: Provider) {
  Object.assign(Session.prototype, { resetIdentifier() {} })
}

/**
 * Calls `complete` before an ID token is signed, with the access token that is sent beside it; it returns when the ID token
 * expires, in Unix seconds. In public, oidc-provider has neither: its events have no access token as it is sent, and its
 * lifetimes are positive by the machine's clock.
 */
export function onIdToken(
  { AccessToken, IdToken }: Provider,
  complete: (token: IdToken, accessToken: string | undefined) => number,
) {
  const sent = new WeakMap<object, string>()
  const { save } = AccessToken.prototype
  AccessToken.prototype.save = async function keepSent() {
    const value = await save.call(this)
    sent.set(this, value)
    return value
  }
  const { issue } = IdToken.prototype
  IdToken.prototype.issue = function completed(options) {
    const expiresAt = complete(this, sent.get(this.ctx.oidc.entities.AccessToken!))
    return issue.call(this, { ...options, expiresAt } as typeof options)
  }
}
