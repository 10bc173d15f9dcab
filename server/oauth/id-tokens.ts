import type { Context } from 'koa'
import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import { allowedScopes } from './authorize-scopes.ts'
import { ACCESS_TOKEN_SECONDS } from './lifetimes.ts'

/**
 * Gives ID tokens at_hash, which oidc-provider leaves out at its token endpoint, and the database's time, as it knows the
 * machine's clock alone.
 */
export function completeIdTokens({ AccessToken, IdToken }: Provider, now: () => number) {
  const sent = new WeakMap<object, string>()
  const { save } = AccessToken.prototype
  AccessToken.prototype.save = async function keepSent() {
    const value = await save.call(this)
    sent.set(this, value)
    return value
  }
  const { issue } = IdToken.prototype
  IdToken.prototype.issue = function complete(options) {
    const { ctx } = this as unknown as { ctx: KoaContextWithOIDC }
    const seconds = Math.floor(now() / 1000)
    this.set('iat', seconds)
    this.set('at_hash', sent.get(ctx.oidc.entities.AccessToken!))
    return issue.call(this, { ...options, expiresAt: seconds + ACCESS_TOKEN_SECONDS } as typeof options)
  }
}

/** A code or refresh token may have `openid`, which was taken from its client since. */
export function dropIdToken(ctx: Context) {
  const { oidc, body } = ctx as Context & Partial<KoaContextWithOIDC>
  if (oidc?.route !== 'token' || !oidc.client || allowedScopes(oidc.client).includes('openid')) return
  delete (body as { id_token?: string } | undefined)?.id_token
}
