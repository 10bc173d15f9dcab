/** `Retry-After` in milliseconds, at least one second; infinite without the header. */
export function retryAfterMs(headers: Headers | undefined): number {
  const after = headers?.get('retry-after')
  if (!after) return Number.POSITIVE_INFINITY
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()
  return Number.isNaN(ms) ? Number.POSITIVE_INFINITY : Math.max(1000, ms)
}
