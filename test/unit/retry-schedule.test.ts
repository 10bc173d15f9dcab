import { describe, expect, it } from 'vitest'
import { createPollCadence } from '../../server/webhooks/poll-cadence.ts'
import { RETRY_DELAYS_SECONDS, retryDelayMs } from '../../server/webhooks/retry-schedule.ts'

const middle = 0.5
const nearlyOne = 1 - 2 ** -53

describe('the delay after a failed attempt', () => {
  it.each([
    [1, 5_000],
    [2, 300_000],
    [3, 1_800_000],
    [4, 7_200_000],
    [5, 18_000_000],
    [6, 36_000_000],
    [7, 36_000_000],
  ])('number %d is %d ms, give or take a fifth', (attempts, ms) => {
    expect(retryDelayMs(attempts, null, middle)).toBe(ms)
    expect(retryDelayMs(attempts, null, 0)).toBe(ms * 0.8)
    expect(retryDelayMs(attempts, null, nearlyOne)).toBe(ms * 1.2)
  })

  it('is null after the eighth, also with Retry-After', () => {
    expect(retryDelayMs(8, null, middle)).toBeNull()
    expect(retryDelayMs(8, 60, middle)).toBeNull()
  })

  it('spreads eight attempts over about 28 hours', () => {
    const hours = RETRY_DELAYS_SECONDS.reduce((sum, seconds) => sum + seconds, 0) / 3600
    expect(RETRY_DELAYS_SECONDS).toHaveLength(7)
    expect(hours).toBeCloseTo(27.6, 1)
  })

  it('follows Retry-After up to an hour, and is never shorter than scheduled', () => {
    expect(retryDelayMs(1, 60, middle)).toBe(60_000)
    expect(retryDelayMs(1, 3_600, middle)).toBe(3_600_000)
    expect(retryDelayMs(1, 3_601, middle)).toBe(3_600_000)
    expect(retryDelayMs(1, Number.POSITIVE_INFINITY, middle)).toBe(3_600_000)
    expect(retryDelayMs(1, 0, middle)).toBe(5_000)
    expect(retryDelayMs(4, 60, middle)).toBe(7_200_000)
    expect(retryDelayMs(6, 90_000, middle)).toBe(36_000_000)
  })
})

const MAX_MS = 1_000

type Cadence = ReturnType<typeof createPollCadence>

interface Step {
  /** How long the poll takes. */
  ms?: number
  more?: boolean
  restMs?: number
  /** What happens before the poll, and while it runs. */
  before?: (cadence: Cadence) => void
  during?: (cadence: Cadence, at: number) => void
}

const claim = (cadence: Cadence) => cadence.claimed()

/** Polls whenever it is time; returns the pause after each poll. */
function pausesAfter(steps: Step[]) {
  const cadence = createPollCadence(MAX_MS)
  let at = 0
  return steps.map(({ ms = 1, more = false, restMs, before, during }) => {
    at = Math.max(at, cadence.nextAt())
    before?.(cadence)
    const startedAt = at
    during?.(cadence, startedAt)
    at += ms
    cadence.polled({ startedAt, endedAt: at, more, restMs })
    return cadence.nextAt() - at
  })
}

const repeated = (count: number, step: Step = {}): Step[] => Array.from({ length: count }, () => step)

it.each<[string, Step[], number[]]>([
  ['is the maximum when nothing was ever claimed', repeated(3), [1_000, 1_000, 1_000]],
  ['is 20 ms while deliveries are claimed', repeated(3, { before: claim }), [20, 20, 20]],
  [
    'doubles up to the maximum once nothing is claimed',
    [{ before: claim }, ...repeated(7)],
    [20, 40, 80, 160, 320, 640, 1_000, 1_000],
  ],
  ['is short again after the next claim', [{ before: claim }, {}, {}, { before: claim }], [20, 40, 80, 20]],
  ['is 20 ms when the poll did not see everything', [{ more: true }, { more: true }, {}], [20, 20, 40]],
  [
    'is 20 ms when something was published during the poll',
    [{ during: (cadence, at) => cadence.wake(at) }, {}],
    [20, 40],
  ],
  ['is as long as the poll allows, beyond the maximum', [{ restMs: 5_000 }, { restMs: 40 }, {}], [5_000, 40, 80]],
  ['is no rest after a claim', [{ before: claim, restMs: 5_000 }], [20]],
  [
    'is no rest when something was published during the poll',
    [{ during: (cadence, at) => cadence.wake(at), restMs: 5_000 }],
    [20],
  ],
  ['is 20 ms at least', [{ restMs: 1 }], [20]],
  ['is 20 times as long as the poll took', repeated(2, { before: claim, ms: 10 }), [200, 200]],
  ['never exceeds the maximum, however long the poll took', repeated(2, { before: claim, ms: 400 }), [1_000, 1_000]],
])('the pause after a poll %s', (_title, steps, pauses) => {
  expect(pausesAfter(steps)).toEqual(pauses)
})

describe('the next poll', () => {
  /** A cadence that polled from 0 to `ms`. */
  function polled(ms = 1) {
    const cadence = createPollCadence(MAX_MS)
    cadence.polled({ startedAt: 0, endedAt: ms, more: false })
    return cadence
  }

  it('is due at once for a new worker', () => {
    expect(createPollCadence(MAX_MS).nextAt()).toBeLessThanOrEqual(0)
  })

  it.each([
    { wokenAt: 500, pollMs: 1, due: 21 },
    { wokenAt: 5, pollMs: 1, due: 21 },
    { wokenAt: 5, pollMs: 4, due: 84 },
  ])('is due at $due ms after a poll of $pollMs ms and a publication at $wokenAt ms', ({ wokenAt, pollMs, due }) => {
    const cadence = polled(pollMs)
    cadence.wake(wokenAt)
    expect(cadence.nextAt()).toBe(due)
  })

  it('waits for the maximum after a failure', () => {
    const cadence = polled()
    cadence.failed(400)
    expect(cadence.nextAt()).toBe(1_400)
  })

  it('comes early after a failure when something is published, but not at once', () => {
    const cadence = polled()
    cadence.failed(400)
    cadence.wake(401)
    expect(cadence.nextAt()).toBe(420)
  })
})
