export interface AttemptResult {
  /** The response's status; null without one. */
  status: number | null
  /**
   * Null when delivered. Otherwise a short, stable text without address or secret: `status 500`, `timeout`, `address not public`.
   * Publishers read it as `lastError`.
   */
  error: string | null
  /** The first 1 KiB of the response's body; null without a response. */
  responseBody: string | null
  /** The `Retry-After` of a failed response, 0 to 3600. */
  retryAfterSeconds: number | null
  /** The response was 410: the subscription ends. */
  gone: boolean
}

export const noResponse = (error: string): AttemptResult => ({
  status: null,
  error,
  responseBody: null,
  retryAfterSeconds: null,
  gone: false,
})
