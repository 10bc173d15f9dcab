import type { IncomingMessage } from 'node:http'
import type { Principal } from '../../routers/access.ts'
import { errors } from '../../routers/errors.ts'
import type { TrustedIssuer } from './verify.ts'
import { createTokenVerifier } from './verify.ts'

/** Reads and verifies a request's bearer token. Throws 401, or 503 while its issuer's keys cannot be read. */
export type Authenticate = (request: IncomingMessage) => Promise<Principal>

export function createAuthenticate(issuers: readonly TrustedIssuer[], now: () => number): Authenticate {
  const verify = createTokenVerifier(issuers, now)
  return async (request) => verify(bearerToken(request))
}

/** RFC 6750, 2.1. `headers` has only the first of several Authorization headers; two of them are refused. */
function bearerToken({ headersDistinct: { authorization } }: IncomingMessage): string {
  if (authorization === undefined) throw errors.tokenMissing()
  const [header = '', ...more] = authorization
  const [, token] = /^Bearer +([\w\-.~+/]+=*)$/i.exec(header) ?? []
  if (token === undefined || more.length > 0) throw errors.tokenInvalid()
  return token
}
