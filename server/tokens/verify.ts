import type { JWTHeaderParameters, JWTPayload } from 'jose'
import { decodeJwt, decodeProtectedHeader, errors as jose } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../../routers/kernel/access.ts'
import { hasExpired } from '../../routers/kernel/access.ts'
import { ApiError, errors } from '../../routers/kernel/errors.ts'
import type { PublishedKeys } from './published-keys.ts'
import { isOfKey, verifyByAny } from './published-keys.ts'

export interface TrustedIssuer extends PublishedKeys {
  issuer: string
  audience: string | string[]
  /** Reads a verified token; throws 401 when it is not an access token or lacks a claim. */
  toPrincipal: (payload: JWTPayload, header: JWTHeaderParameters) => Principal
  /** Changes with each read of the keys; cached tokens are then verified again. */
  keySetVersion?: () => unknown
  /** Called for a token that none of the keys has signed. */
  keyRefused?: (cause: Error) => void
}

/** For issuers whose clock is ahead. Expiry has no tolerance. */
const CLOCK_TOLERANCE_SECONDS = 5

/** Without the padding that may follow: each of its endless spellings would take a place in the cache. */
const CANONICAL = /^[\w\-.]+$/

interface VerifiedToken {
  principal: Principal & { expiresAt: number }
  trusted: TrustedIssuer
  keySetVersion: unknown
}

/** Verifies an access token (JWT) once and caches it until it expires. The returned function throws 401 or 503. */
export function createTokenVerifier(issuers: readonly TrustedIssuer[], now: () => number) {
  const cache = new LRUCache<string, VerifiedToken>({ max: 10_000 })

  const verify = async (token: string): Promise<VerifiedToken> => {
    const claimed = readIssuer(token)
    const trusted = issuers.find(({ issuer }) => issuer === claimed)
    if (!trusted) throw errors.tokenInvalid()
    // Read first: the keys may change while the signature is verified.
    const keySetVersion = trusted.keySetVersion?.()
    const options = {
      issuer: trusted.issuer,
      audience: trusted.audience,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(now()),
    }
    const { payload, protectedHeader } = await verifyByAny(token, trusted, options).catch((cause) => {
      if (cause instanceof ApiError) throw cause
      if (isOfKey(cause)) trusted.keyRefused?.(cause)
      throw cause instanceof jose.JWTExpired
        ? expired(readClientId(cause.payload, token, trusted))
        : errors.tokenInvalid()
    })
    const principal = { ...trusted.toPrincipal(payload, protectedHeader), expiresAt: payload.exp! * 1000 }
    return { principal, trusted, keySetVersion }
  }

  return async (token: string): Promise<Principal> => {
    const cached = cache.get(token)
    const isCurrent = cached?.keySetVersion === cached?.trusted.keySetVersion?.()
    const verified = cached && isCurrent ? cached : await verify(token)
    if (verified !== cached && CANONICAL.test(token)) cache.set(token, verified)
    if (hasExpired(verified.principal, now())) throw expired(verified.principal.client)
    return verified.principal
  }
}

const expired = (client: string | undefined) => Object.assign(errors.tokenExpired(), { client })

function readClientId(payload: JWTPayload, token: string, { toPrincipal }: TrustedIssuer): string | undefined {
  try {
    return toPrincipal(payload, decodeProtectedHeader(token) as JWTHeaderParameters).client
  } catch {
    return undefined
  }
}

function readIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    throw errors.tokenInvalid()
  }
}
