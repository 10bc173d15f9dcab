import type { JWTHeaderParameters, JWTPayload } from 'jose'
import type { Principal } from '../../routers/access.ts'
import { errors } from '../../routers/errors.ts'
import { ACCESS_TOKEN, principalNamed, typeOf } from './verify.ts'

export interface TokenForm {
  /** The `typ` of its header. */
  type: string
  /** The audience of each section. */
  audiences: Readonly<Record<string, string>>
  /** The names of the claims that say who and what. */
  claims: Readonly<Record<'member' | 'organisation' | 'client' | 'scope', string>>
}

/** Claims of ID tokens and logout tokens, which say who somebody is and not what an app may do. */
const OF_OTHER_TOKENS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events']

/** Reads the claims of an outside issuer's verified token. */
export const outsidePrincipal =
  ({ type, audiences, claims }: TokenForm) =>
  (payload: JWTPayload, header: JWTHeaderParameters): Principal => {
    // A token that is bound to a key of its client is worth nothing without a proof, which nobody checks here.
    if (!isAccessToken(payload, typeOf(header), type) || Object.hasOwn(payload, 'cnf')) throw errors.tokenInvalid()
    const principal = principalNamed({
      member: claimOf(payload, claims.member),
      organisation: onlyOne(claimOf(payload, claims.organisation)),
      client: claimOf(payload, claims.client),
      scopes: scopesOf(claimOf(payload, claims.scope)),
    })
    const meantFor = [payload.aud].flat()
    const sections = Object.keys(audiences).filter((section) => meantFor.includes(audiences[section]))
    return { ...principal, sections: new Set(sections) }
  }

/** Where `at+jwt` does not tell an access token from the issuer's other tokens, their claims have to. */
function isAccessToken(payload: JWTPayload, given: string, wanted: string): boolean {
  if (given === ACCESS_TOKEN) return true
  if (given !== typeOf({ typ: wanted } as JWTHeaderParameters)) return false
  // Keycloak names the kind of each of its tokens in the payload.
  const { typ: kind = 'Bearer' } = payload
  return kind === 'Bearer' && !OF_OTHER_TOKENS.some((claim) => Object.hasOwn(payload, claim))
}

/** A claim of that name, dots and all (Auth0's are addresses); else the names between the dots lead to it. */
function claimOf(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name) || name.includes('://')) return ownOf(payload, name)
  return name.split('.').reduce(ownOf, payload as unknown)
}

const ownOf = (value: unknown, name: string): unknown =>
  Object.hasOwn(Object(value), name) ? (value as Record<string, unknown>)[name] : undefined

/** Keycloak lists the organisations of a token, also when there is one. */
const onlyOne = (value: unknown) => (Array.isArray(value) && value.length === 1 ? value[0] : value)

function scopesOf(value: unknown = ''): string[] {
  if (typeof value === 'string') return value.split(' ')
  if (Array.isArray(value) && value.every((scope) => typeof scope === 'string')) return value
  throw errors.tokenInvalid()
}
