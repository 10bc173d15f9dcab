/** Seconds between a failed attempt and the next. The eighth, about 28 hours after the first, is the last. */
export const RETRY_DELAYS_SECONDS: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]

/** Each delay varies by up to this share, so that deliveries that failed together do not return together. */
const JITTER = 0.2

/** A longer `Retry-After` counts as an hour. */
export const MAX_RETRY_AFTER_SECONDS = 3_600

/**
 * Milliseconds from a failed attempt to the next, or null after the last. `attempts` counts from 1; `random` is in [0, 1). A
 * receiver's `Retry-After` can lengthen a delay, never shorten it.
 */
export function retryDelayMs(
  attempts: number,
  retryAfterSeconds: number | null,
  random: number,
  delays = RETRY_DELAYS_SECONDS,
): number | null {
  const delay = delays[attempts - 1]
  if (delay === undefined) return null
  const jittered = delay * (1 + JITTER * (2 * random - 1))
  const requested = Math.min(retryAfterSeconds ?? 0, MAX_RETRY_AFTER_SECONDS)
  return Math.round(1000 * Math.max(jittered, requested))
}
