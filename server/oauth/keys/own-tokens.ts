import { errors } from '../../../routers/kernel/errors.ts'
import { toIssuer } from '../../browser/addresses.ts'
import { AUDIENCE } from '../../tokens/audience.ts'
import { readPrincipal } from '../../tokens/claims.ts'
import type { TrustedIssuer } from '../../tokens/verify.ts'
import type { SigningKeys } from './signing-keys.ts'

/** The service's own access tokens, as one of its issuers. */
export const ownTokens = (keys: SigningKeys, authBaseUrl: string): TrustedIssuer => ({
  keys: keys.verify,
  keySetVersion: keys.version,
  issuer: toIssuer(authBaseUrl),
  audience: AUDIENCE,
  toPrincipal(payload, header) {
    const { gid: grant, sub, ...claims } = payload
    // RFC 9068, 2.2: the subject of a token that a client has got for itself is the client.
    if (grant === undefined && sub === claims.client_id) return { ...readPrincipal(claims, header), ownToken: true }
    if (typeof grant !== 'string' || grant === '') throw errors.tokenInvalid()
    return { ...readPrincipal(payload, header), grant, ownToken: true }
  },
})
