import { compactVerify, decodeJwt } from 'jose'
import type { Context } from 'koa'
import type { KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import { endGrants } from '../../../routers/kernel/withdraw.ts'
import { ACCESS_TOKEN, readType } from '../../tokens/claims.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'

interface Options {
  db: Database
  now: () => number
  issuer: string
  keys: Pick<SigningKeys, 'verify'>
}

/**
 * RFC 7009 for an access token, which oidc-provider refuses once it has authenticated the client: the token's grant ends, and its
 * refresh token with it. Nothing happens for a token that is unknown, or another client's. A client's token for itself has no
 * grant, and stays `unsupported_token_type`.
 */
export async function revokeAccessToken(ctx: Context, { db, now, issuer, keys }: Options): Promise<void> {
  const { oidc, body } = ctx as Context & Partial<KoaContextWithOIDC>
  if (oidc?.route !== 'revocation' || Object(body).error !== 'unsupported_token_type') return
  const claims = await readClaims(String(oidc.params!.token), keys)
  if (claims?.iss === issuer && claims.client_id === oidc.client!.clientId) {
    if (typeof claims.gid !== 'string') return
    await endGrants(db, [claims.gid], now())
  }
  ctx.status = 200
}

/** RFC 7009 lets clients ignore the body; simple-oauth2 takes any that is not JSON for an error. */
export function answerRevocation(ctx: Context): void {
  if ((ctx as Context & Partial<KoaContextWithOIDC>).oidc?.route === 'revocation' && ctx.status === 200) ctx.body = {}
}

/** Also of an expired one: its grant may still exist. Undefined for what this service has not signed. */
async function readClaims(token: string, keys: Options['keys']) {
  try {
    const { protectedHeader } = await compactVerify(token, keys.verify, { algorithms: ['ES256'] })
    return readType(protectedHeader) === ACCESS_TOKEN ? decodeJwt(token) : undefined
  } catch {
    return undefined
  }
}
