import { decodeProtectedHeader } from 'jose'
import type { Context } from 'koa'
import type { Client, KoaContextWithOIDC, Provider } from 'oidc-provider'
import { allowedScopes } from '../consents/authorize-scopes.ts'
import { ACCESS_TOKEN_SECONDS } from '../keys/lifetimes.ts'
import { algorithms } from '../keys/signing-key-store.ts'
import { onIdToken } from './oidc-internals.ts'

/**
 * Gives ID tokens at_hash, which oidc-provider leaves out at its token endpoint, and the database's time, as it knows the
 * machine's clock alone.
 */
export const completeIdTokens = (provider: Provider, now: () => number) =>
  onIdToken(provider, (token, accessToken) => {
    const seconds = Math.floor(now() / 1000)
    token.set('iat', seconds)
    token.set('at_hash', accessToken)
    return seconds + ACCESS_TOKEN_SECONDS
  })

/**
 * An `id_token_hint` that cannot be verified counts as not given: keys rotate, and apps store ID tokens for longer. One from before
 * its client has changed the algorithm is verified by its own.
 */
export function ignoreUnverifiedHints({ IdToken }: Provider) {
  const { validate } = IdToken
  IdToken.validate = async (hint, { clientId, idTokenSignedResponseAlg: own }) => {
    try {
      const { alg = '' } = decodeProtectedHeader(hint)
      const signed = { clientId, idTokenSignedResponseAlg: isKnown(alg) ? alg : own }
      return await validate.call(IdToken, hint, signed as Client)
    } catch {
      return undefined as never
    }
  }
}

const isKnown = (algorithm: string) => (algorithms as readonly string[]).includes(algorithm)

/** A code or refresh token may have `openid`, which was taken from its client since. */
export function dropIdToken(ctx: Context) {
  const { oidc, body } = ctx as Context & Partial<KoaContextWithOIDC>
  if (oidc?.route !== 'token' || !oidc.client || allowedScopes(oidc.client).includes('openid')) return
  delete (body as { id_token?: string } | undefined)?.id_token
}
