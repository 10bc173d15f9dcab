import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Access } from '../../routers/access.ts'
import { errors } from '../../routers/errors.ts'

/** Requests a minute of a team; sandbox clients have no limit. */
export const LIMITS = { hobby: 60, developer: 10_000 } as const

export type ConsumeQuota = (access: Access, setHeader: (name: string, value: string) => void) => Promise<void>

/**
 * One count for each team, over all its clients, tokens and sections; none for the platform's own clients. The window is 60 seconds from the team's first
 * request. rate-limiter-flexible, as its Redis form counts in the same way.
 */
export function rateLimit(windowSeconds = 60): ConsumeQuota {
  const limiters = {
    hobby: new RateLimiterMemory({ points: LIMITS.hobby, duration: windowSeconds }),
    developer: new RateLimiterMemory({ points: LIMITS.developer, duration: windowSeconds }),
  }
  return async ({ team, level, sandbox }, setHeader) => {
    if (sandbox || team === null) return
    const state = await limiters[level].consume(team).catch((refused) => {
      if (refused instanceof RateLimiterRes) return refused
      throw refused
    })
    const resetSeconds = Math.min(windowSeconds, Math.max(1, Math.ceil(state.msBeforeNext / 1000)))
    setHeader('RateLimit-Policy', `"team";q=${LIMITS[level]};w=${windowSeconds}`)
    setHeader('RateLimit', `"team";r=${Math.max(0, state.remainingPoints)};t=${resetSeconds}`)
    if (state.consumedPoints > LIMITS[level]) throw errors.rateLimited(resetSeconds)
  }
}
