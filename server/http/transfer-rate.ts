/** The average rate that a client must reach, and the time before it applies. */
export const MIN_UPLOAD = { bytesPerSecond: 32 * 1024, graceMs: 10_000 }
export const MIN_DOWNLOAD = { bytesPerSecond: 64 * 1024, graceMs: 20_000 }

const CHECK_MS = 1_000

/**
 * Watches a large transfer, as it occupies memory that others wait for. Calls `onTooSlow` once, when the bytes that `transferred`
 * returns fall below the rate, or do not change for `graceMs`. Returns a function that ends the watch.
 */
export function watchRate(
  { bytesPerSecond, graceMs }: typeof MIN_UPLOAD,
  transferred: () => number,
  onTooSlow: () => void,
): () => void {
  const start = performance.now()
  let last = { bytes: transferred(), at: start }
  const timer = setInterval(() => {
    const [bytes, now] = [transferred(), performance.now()]
    if (bytes > last.bytes) last = { bytes, at: now }
    const required = ((now - start - graceMs) / 1000) * bytesPerSecond
    if (bytes >= required && now - last.at < graceMs) return
    clearInterval(timer)
    onTooSlow()
  }, CHECK_MS).unref()
  return () => clearInterval(timer)
}
