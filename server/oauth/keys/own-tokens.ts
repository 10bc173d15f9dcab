import { errors } from '../../../routers/kernel/errors.ts'
import { issuerOf } from '../../browser/addresses.ts'
import { AUDIENCE } from '../../tokens/audience.ts'
import { principalOf } from '../../tokens/claims.ts'
import type { TrustedIssuer } from '../../tokens/verify.ts'
import type { SigningKeys } from './signing-keys.ts'

/** The service's own access tokens, as one of its issuers. */
export const ownTokens = (keys: SigningKeys, authBaseUrl: string): TrustedIssuer => ({
  keys: keys.verify,
  keySetVersion: keys.version,
  issuer: issuerOf(authBaseUrl),
  audience: AUDIENCE,
  principalOf(payload, header) {
    const { gid: grant, sub, ...claims } = payload
    // RFC 9068, 2.2: the subject of a token that a client has got for itself is the client.
    if (grant === undefined && sub === claims.client_id) return { ...principalOf(claims, header), ownToken: true }
    if (typeof grant !== 'string' || grant === '') throw errors.tokenInvalid()
    return { ...principalOf(payload, header), grant, ownToken: true }
  },
})
