import type { IncomingMessage } from 'node:http'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { errors as jose, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../routers/access.ts'
import { errors } from '../routers/errors.ts'
import { countOf } from './locate.ts'
import type { Step } from './state.ts'

export interface TokenRules {
  /** The keys, as a JWKS gives them. */
  keys: JWTVerifyGetKey
  issuer: string
  audience: string
}

/** Asymmetric ones only, so that no verifier can sign and no public key passes for a secret. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512', 'EdDSA', 'Ed25519']

export type Authenticate = (request: IncomingMessage) => Promise<Principal>

/** A request's bearer token as a principal; 401 when it has none, or one that is not valid. */
export function authenticator({ keys, issuer, audience }: TokenRules, now: () => number): Authenticate {
  /** Verified signatures. A token is as it is: only its expiry has to be looked at again. */
  const verified = new LRUCache<string, { principal: Principal; expires: number }>({ max: 10_000 })

  const verify = async (token: string) => {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      typ: 'at+jwt',
      requiredClaims: ['exp', 'sub', 'client_id', 'organisation'],
      currentDate: new Date(now()),
    }).catch((cause) => {
      throw cause instanceof jose.JWTExpired ? errors.tokenExpired() : errors.tokenInvalid()
    })
    return { principal: principalOf(payload), expires: payload.exp! * 1000 }
  }

  return async ({ headers: { authorization }, rawHeaders }) => {
    if (authorization === undefined) throw errors.tokenMissing()
    const [, token] = /^Bearer +([\w\-.~+/]+=*)$/i.exec(authorization) ?? []
    if (token === undefined || countOf(rawHeaders, 'authorization') !== 1) throw errors.tokenInvalid()
    let known = verified.get(token)
    if (!known) {
      known = await verify(token)
      verified.set(token, known)
    }
    if (known.expires <= now()) throw errors.tokenExpired()
    return known.principal
  }
}

/** Without a member or an organisation there is no principal. */
function principalOf({ sub, organisation, client_id: client, scope = '' }: JWTPayload): Principal {
  const texts = [sub, organisation, client]
  if (!texts.every((text) => typeof text === 'string' && text !== '')) throw errors.tokenInvalid()
  if (typeof scope !== 'string') throw errors.tokenInvalid()
  const scopes = new Set(scope.split(' '))
  return { member: sub as string, organisation: organisation as string, client: client as string, scopes }
}

export const authenticateStep =
  (authenticate: Authenticate): Step =>
  async (ctx, next) => {
    ctx.state.principal = await authenticate(ctx.req)
    return next()
  }
