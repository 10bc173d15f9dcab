import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Limits, Taken } from './limit.ts'

/** Counts in this process alone. */
export const memoryLimits: Limits = {
  open(_name, points, windowSeconds) {
    const limiter = new RateLimiterMemory({ points, duration: windowSeconds })
    const taken = ({ consumedPoints, remainingPoints, msBeforeNext }: RateLimiterRes): Taken => ({
      passes: consumedPoints <= points,
      remaining: Math.max(0, remainingPoints),
      msBeforeNext,
    })
    // Beyond the limit the library rejects.
    const refused = (thrown: unknown) => {
      if (thrown instanceof RateLimiterRes) return taken(thrown)
      throw thrown
    }
    return {
      take: (key) => limiter.consume(key).then(taken, refused),
      giveBack: (key) => void limiter.reward(key),
    }
  },
  store: () => 'memory',
  failures: () => 0,
  async close() {},
}
