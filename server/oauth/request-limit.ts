import { RateLimiterMemory } from 'rate-limiter-flexible'
import { consume } from '../http/consume.ts'

/**
 * Counts a sender's requests of the last minute, in this process: it bounds the work of a flood, and no longer than a
 * minute. False above the limit.
 */
export function requestLimit(perMinute: number): (sender: string) => Promise<boolean> {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 })
  return async (sender) => (await consume(limiter, sender)).consumedPoints <= perMinute
}
