import type { IncomingMessage } from 'node:http'
import type { JWTHeaderParameters, JWTPayload, JWTVerifyGetKey } from 'jose'
import { decodeJwt, errors as jose, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../../routers/access.ts'
import { ApiError, errors } from '../../routers/errors.ts'
import { countOf } from '../http/match-route.ts'

export interface TokenRules {
  /** The keys, as a JWKS gives them. */
  keys: JWTVerifyGetKey
  issuer: string
  audience: string | string[]
  /** Which member, organisation, client and scopes a verified token names; where nothing is said, by the names of our own. */
  principalOf?: (payload: JWTPayload, header: JWTHeaderParameters) => Principal
  /** Another value once keys have changed: a remembered token is then verified again. */
  edition?: () => unknown
}

/** Asymmetric ones only, so that no verifier can sign and no public key passes for a secret. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512', 'EdDSA', 'Ed25519']

/** The clock of who signed may be ahead of ours; that a token has expired is told to the second all the same. */
const CLOCK_TOLERANCE_SECONDS = 5

/** Spaces and padding may be added without end: a token that has them is verified each time, and takes no place. */
const AS_USUAL = /^Bearer [\w\-.]+$/i

interface Verified {
  principal: Principal
  expires: number
  rules: TokenRules
  edition: unknown
}

export type Authenticate = (request: IncomingMessage) => Principal | Promise<Principal>

/** A request's bearer token as a principal; 401 when it has none, or one that none of these issuers vouches for. */
export function authenticator(trusted: readonly TokenRules[], now: () => number): Authenticate {
  /** Verified signatures, by the header that they came in. A token is as it is: only its expiry has to be looked at again. */
  const verified = new LRUCache<string, Verified>({ max: 10_000 })

  const verify = async (authorization: string): Promise<Verified> => {
    const [, token] = /^Bearer +([\w\-.~+/]+=*)$/i.exec(authorization) ?? []
    if (token === undefined) throw errors.tokenInvalid()
    // Not believed yet: it says only whose rules are to be asked.
    const said = issuerOf(token)
    const rules = trusted.find(({ issuer }) => issuer === said)
    if (!rules) throw errors.tokenInvalid()
    const { keys, issuer, audience, principalOf = ownPrincipal, edition } = rules
    const before = edition?.()
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now()),
    }).catch((cause) => {
      if (cause instanceof ApiError) throw cause
      throw cause instanceof jose.JWTExpired ? errors.tokenExpired() : errors.tokenInvalid()
    })
    const principal = principalOf(payload, protectedHeader)
    return { principal, expires: payload.exp! * 1000, rules, edition: before }
  }

  const unlessExpired = ({ principal, expires }: Verified): Principal => {
    if (expires <= now()) throw errors.tokenExpired()
    return principal
  }

  return ({ headers: { authorization }, rawHeaders }) => {
    if (authorization === undefined) throw errors.tokenMissing()
    if (countOf(rawHeaders, 'authorization') !== 1) throw errors.tokenInvalid()
    const known = verified.get(authorization)
    if (known && known.edition === known.rules.edition?.()) return unlessExpired(known)
    return verify(authorization).then((found) => {
      if (AS_USUAL.test(authorization)) verified.set(authorization, found)
      return unlessExpired(found)
    })
  }
}

function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    throw errors.tokenInvalid()
  }
}

/** What kind of token it says it is: the media type of its header in short, lower case. */
export const typeOf = ({ typ }: JWTHeaderParameters) =>
  String(typ)
    .toLowerCase()
    .replace(/^application\//, '')

export const ACCESS_TOKEN = 'at+jwt'

export function ownPrincipal(payload: JWTPayload, header: JWTHeaderParameters): Principal {
  const { sub: member, organisation, client_id: client, scope = '' } = payload
  if (typeOf(header) !== ACCESS_TOKEN || typeof scope !== 'string') throw errors.tokenInvalid()
  return principalNamed({ member, organisation, client, scopes: scope.split(' ') })
}

/** Without an organisation or a client there is no principal; who needs no member is for the procedures to say. */
export function principalNamed(
  named: Record<'member' | 'organisation' | 'client', unknown> & { scopes: string[] },
): Principal {
  const { member, organisation, client, scopes } = named
  if (!(member === undefined || isName(member)) || !isName(organisation) || !isName(client)) throw errors.tokenInvalid()
  return { member: member ?? null, organisation, client, scopes: new Set(scopes) }
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''
