import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import { productionLimits } from '../../prisma/time-limits.ts'
import type { TokenFormat } from './external-claims.ts'
import { createPrincipalReader } from './external-claims.ts'
import type { INTERVALS } from './external-keys.ts'
import { openExternalKeys } from './external-keys.ts'
import { storedKeySet } from './jwks-cache.ts'
import type { IssuerAddress } from './jwks-discovery.ts'
import type { TrustedIssuer } from './verify.ts'

/** The least time between two lines. */
const EVERY_MS = 60_000

/**
 * Logs tokens that name TOKEN_ISSUER but match none of its keys: anybody can send one, but the issuer may also sign with a key that
 * it does not publish. Each line has the number refused since the last one.
 */
function logRefusedKeys(log: Logger, now: () => number): (cause: Error) => void {
  let loggedAt = Number.NEGATIVE_INFINITY
  let refused = 0
  return ({ message }) => {
    refused++
    if (now() < loggedAt + EVERY_MS) return
    log.warn({ refused, reason: message }, 'tokens from TOKEN_ISSUER refused: no published key matches their signature')
    loggedAt = now()
    refused = 0
  }
}

export type ExternalIssuerSettings = TokenFormat & IssuerAddress

interface Options {
  db: Database
  now: () => number
  log: Logger
  intervals?: typeof INTERVALS
  /** Timeout for the issuer's documents together. */
  issuerMs?: number
}

/**
 * Trusts the issuer of TOKEN_ISSUER. Its keys are read in the background and stored in the database, so tokens signed with known
 * keys stay valid while it is down. A token with an unknown key is 401 if the issuer does not have that key, and 503 if the
 * issuer cannot be reached: clients discard a refused token.
 */
export async function openExternalIssuer(
  settings: ExternalIssuerSettings,
  { db, now, log, intervals, issuerMs = productionLimits.issuerMs }: Options,
) {
  const { issuer, jwksUrl, audiences } = settings
  const { keys, reloadUnknown, version, ready, readAt, close } = await openExternalKeys(settings, {
    stored: storedKeySet(db, [issuer, jwksUrl]),
    now,
    log,
    intervals,
    issuerMs,
  })
  const trusted: TrustedIssuer = {
    issuer,
    audience: Object.values(audiences),
    keys,
    toPrincipal: createPrincipalReader(settings),
    keySetVersion: version,
    reloadKeys: reloadUnknown,
    keyRefused: logRefusedKeys(log, now),
  }
  return { trusted, ready, readAt, close }
}
