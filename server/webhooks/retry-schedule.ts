/** Seconds between one failed try and the next. After the eighth, about 28 hours after the first, there is no next. */
export const WAITS_SECONDS: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]

/** Each wait is longer or shorter by up to this part of it, so that what failed together does not come back together. */
const JITTER = 0.2

/** However long a receiver asks to be left alone, it is tried again after an hour. */
export const MOST_RETRY_AFTER_SECONDS = 3_600

/**
 * How many milliseconds after a failed try the next one is due, or null when that was the last. `tries` counts them all,
 * from 1; `random` is in [0, 1). A receiver's `Retry-After` can make a wait longer, never shorter.
 */
export function waitAfter(
  tries: number,
  retryAfterSeconds: number | null,
  random: number,
  waits = WAITS_SECONDS,
): number | null {
  const wait = waits[tries - 1]
  if (wait === undefined) return null
  const ours = wait * (1 + JITTER * (2 * random - 1))
  const theirs = Math.min(retryAfterSeconds ?? 0, MOST_RETRY_AFTER_SECONDS)
  return Math.round(1000 * Math.max(ours, theirs))
}
