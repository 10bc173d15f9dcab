import type { RateLimiterMemory } from 'rate-limiter-flexible'
import { RateLimiterRes } from 'rate-limiter-flexible'

/** Counts one point against `key`. Resolves to its state within the limit and beyond it, where the library rejects. */
export const consume = (limiter: RateLimiterMemory, key: string): Promise<RateLimiterRes> =>
  limiter.consume(key).catch((refused) => {
    if (refused instanceof RateLimiterRes) return refused
    throw refused
  })
