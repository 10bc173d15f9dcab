import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Access } from '../../routers/access.ts'
import { errors } from '../../routers/errors.ts'
import { consume } from './consume.ts'

/** Requests per team and minute; sandbox clients have no limit. */
export const LIMITS = { hobby: 60, developer: 10_000 } as const

export type ConsumeQuota = (access: Access, setHeader: (name: string, value: string) => void) => Promise<void>

/**
 * One count per team, over all its clients, tokens and sections; first-party clients are not counted. The window starts with
 * the team's first request. Throws 429.
 */
export function rateLimit(windowSeconds = 60): ConsumeQuota {
  const limiters = {
    hobby: new RateLimiterMemory({ points: LIMITS.hobby, duration: windowSeconds }),
    developer: new RateLimiterMemory({ points: LIMITS.developer, duration: windowSeconds }),
  }
  return async ({ team, level, sandbox }, setHeader) => {
    if (sandbox || team === null) return
    const state = await consume(limiters[level], team)
    const resetSeconds = Math.min(windowSeconds, Math.max(1, Math.ceil(state.msBeforeNext / 1000)))
    setHeader('RateLimit-Policy', `"team";q=${LIMITS[level]};w=${windowSeconds}`)
    setHeader('RateLimit', `"team";r=${Math.max(0, state.remainingPoints)};t=${resetSeconds}`)
    if (state.consumedPoints > LIMITS[level]) throw errors.rateLimited(resetSeconds)
  }
}
