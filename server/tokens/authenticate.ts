import type { IncomingMessage } from 'node:http'
import type { Principal } from '../../routers/kernel/access.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { TrustedIssuer } from './verify.ts'
import { createTokenVerifier } from './verify.ts'

/** How often a header was sent; `headers` has only the first of some. `name` is in lower case. */
export function headerCount(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i]!
    if (sent.length === name.length && sent.toLowerCase() === name) count++
  }
  return count
}

/** Reads and verifies a request's bearer token. Throws 401, or 503 while its issuer's keys cannot be read. */
export type Authenticate = (request: IncomingMessage) => Promise<Principal>

export function createAuthenticate(issuers: readonly TrustedIssuer[], now: () => number): Authenticate {
  const verify = createTokenVerifier(issuers, now)
  return async (request) => verify(bearerToken(request))
}

/** RFC 6750, 2.1. Throws 401, also for two Authorization headers. */
function bearerToken({ headers: { authorization }, rawHeaders }: IncomingMessage): string {
  if (authorization === undefined) throw errors.tokenMissing()
  const [, token] = /^Bearer +([\w\-.~+/]+=*)$/i.exec(authorization) ?? []
  if (token === undefined || headerCount(rawHeaders, 'authorization') !== 1) throw errors.tokenInvalid()
  return token
}
