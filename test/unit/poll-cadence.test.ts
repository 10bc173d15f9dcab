import { describe, expect, it } from 'vitest'
import { createPollCadence } from '../../server/webhooks/poll-cadence.ts'

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

describe('the pause after a poll', () => {
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
  ])('%s', (_title, steps, pauses) => {
    expect(pausesAfter(steps)).toEqual(pauses)
  })
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
