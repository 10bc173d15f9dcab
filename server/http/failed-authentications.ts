import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { ApiError, errors } from '../../routers/kernel/errors.ts'
import { retryAfterSeconds } from '../../routers/kernel/time.ts'
import type { Limits } from '../limits/limit.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import type { ClientAddress } from './client-address.ts'
import { toNetwork } from './client-address.ts'

/** Invalid tokens per minute of an address (IPv6: of a /64). Legitimate clients have almost none: expired tokens do not count. */
export const MAX_FAILURES = 100
const WINDOW_SECONDS = 60
/** A client that ignores the end of the window waits for each answer: 100 connections make 400 requests a second at most. */
export const REFUSAL_DELAY_MS = 250

/**
 * Answers invalid tokens beyond the limit with 429, after a delay, and repeated ones without verifying them. Other tokens are
 * always verified: no valid token is refused because of an attacker at the same address.
 */
export function limitFailures(
  authenticate: Authenticate,
  readClientAddress: ClientAddress,
  limits: Limits,
  now = () => performance.now(),
): Authenticate {
  const failures = limits.open('invalid-tokens', MAX_FAILURES, WINDOW_SECONDS)
  /** Tokens refused beyond the limit: network and token, until when. */
  const refused = new LRUCache<string, number>({ max: 10_000 })

  return async (request) => {
    const until = refused.size > 0 ? refused.get(toKey(request, readClientAddress)) : undefined
    if (until !== undefined && now() < until) throw await tooMany(until - now())
    try {
      return await authenticate(request)
    } catch (thrown) {
      if (!isInvalidToken(thrown, request)) throw thrown
      const { passes, msBeforeNext } = await failures.take(toNetwork(readClientAddress(request)))
      if (passes) throw thrown
      refused.set(toKey(request, readClientAddress), now() + msBeforeNext)
      throw await tooMany(msBeforeNext)
    }
  }
}

/** A request without a token guesses nothing, and an expired token was once a valid one. */
const isInvalidToken = (thrown: unknown, { headers }: IncomingMessage) =>
  thrown instanceof ApiError &&
  thrown.status === 401 &&
  thrown.message !== errors.tokenExpired().message &&
  headers.authorization !== undefined

const toKey = (request: IncomingMessage, readClientAddress: ClientAddress) =>
  `${toNetwork(readClientAddress(request))} ${createHash('sha256')
    .update(request.headers.authorization ?? '')
    .digest('base64')}`

async function tooMany(ms: number) {
  await sleep(REFUSAL_DELAY_MS)
  return errors.failuresLimited(Math.min(WINDOW_SECONDS, retryAfterSeconds(ms)))
}
