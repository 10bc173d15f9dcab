/** Polling takes at most a twentieth of the time, however many subscriptions have pending deliveries. */
const PAUSE_PER_DURATION = 20
const MIN_PAUSE_MS = 20

interface Polled {
  startedAt: number
  endedAt: number
  /** It did not see everything. */
  more: boolean
  /** Until then nothing becomes due that `wake` does not report. */
  restMs?: number | undefined
}

/**
 * Decides when to poll: often while polls lead to claims, less and less often while they do not, and at least every `maxMs`, unless
 * a poll allows a longer rest.
 * Times are in ms, of a clock that only goes forward.
 */
export function createPollCadence(maxMs: number) {
  let nextAt = Number.NEGATIVE_INFINITY
  let polledAt = Number.NEGATIVE_INFINITY
  let minPause = MIN_PAUSE_MS
  let pause = maxMs
  let wokenAt = Number.NEGATIVE_INFINITY
  let claimed = false

  return {
    nextAt: () => nextAt,

    /** After a publication: polls as soon as the minimum pause allows. */
    wake(at: number) {
      wokenAt = at
      nextAt = Math.min(nextAt, polledAt + minPause)
    },

    claimed() {
      claimed = true
    },

    polled({ startedAt, endedAt, more, restMs }: Polled) {
      minPause = Math.min(maxMs, Math.max(MIN_PAUSE_MS, PAUSE_PER_DURATION * (endedAt - startedAt)))
      // The poll may have missed what was published meanwhile.
      const isBusy = claimed || more || wokenAt >= startedAt
      pause = isBusy ? minPause : restMs === undefined ? Math.min(maxMs, pause * 2) : Math.max(minPause, restMs)
      polledAt = endedAt
      nextAt = endedAt + pause
      claimed = false
    },

    failed(at: number) {
      polledAt = at
      nextAt = at + maxMs
    },
  }
}
