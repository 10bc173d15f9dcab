import type { JWTHeaderParameters, JWTPayload } from 'jose'
import type { Principal } from '../../routers/kernel/access.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { TokenSection } from '../../routers/kernel/scopes.ts'
import { ACCESS_TOKEN, readType, toPrincipal } from './claims.ts'

export interface TokenFormat {
  type: string
  audiences: Readonly<Record<TokenSection, string>>
  /** Claim names; dots lead into nested objects. */
  claims: Readonly<Record<'member' | 'organisation' | 'client' | 'scope', string>>
}

/** Claims that only ID tokens and logout tokens have: they identify a user and authorize nothing. */
const CLAIMS_OF_OTHER_TOKENS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events']

/** Reads the claims of an external issuer's verified token; throws 401. */
export const createPrincipalReader =
  ({ type, audiences, claims }: TokenFormat) =>
  (payload: JWTPayload, header: JWTHeaderParameters): Principal => {
    // A token bound to its client's key (`cnf`) needs a proof of possession, which is not verified here.
    if (!isAccessToken(payload, readType(header), type) || Object.hasOwn(payload, 'cnf')) throw errors.tokenInvalid()
    const principal = toPrincipal({
      member: claim(payload, claims.member),
      organisation: singleValue(claim(payload, claims.organisation)),
      client: claim(payload, claims.client),
      scopes: parseScopes(claim(payload, claims.scope)),
    })
    const audience = [payload.aud].flat()
    const sections = Object.keys(audiences).filter((section) => audience.includes(audiences[section as TokenSection]))
    return { ...principal, sections: new Set(sections) }
  }

/** An issuer with a `typ` other than at+jwt may use it for all of its tokens: then their claims tell them apart. */
function isAccessToken(payload: JWTPayload, actual: string, expected: string): boolean {
  if (actual === ACCESS_TOKEN) return true
  if (actual !== readType({ typ: expected })) return false
  // Keycloak names the kind of token in the payload.
  const { typ: tokenType = 'Bearer' } = payload
  return tokenType === 'Bearer' && !CLAIMS_OF_OTHER_TOKENS.some((name) => Object.hasOwn(payload, name))
}

/** A claim with exactly this name has precedence: Auth0's names are URLs, dots included. */
function claim(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name) || name.includes('://')) return own(payload, name)
  return name.split('.').reduce(own, payload as unknown)
}

const own = (value: unknown, name: string): unknown =>
  Object.hasOwn(Object(value), name) ? (value as Record<string, unknown>)[name] : undefined

/** Keycloak sends a token's organisations as a list, even when there is only one. */
const singleValue = (value: unknown) => (Array.isArray(value) && value.length === 1 ? value[0] : value)

function parseScopes(value: unknown = ''): string[] {
  if (typeof value === 'string') return value.split(' ')
  if (Array.isArray(value) && value.every((scope) => typeof scope === 'string')) return value
  throw errors.tokenInvalid()
}
