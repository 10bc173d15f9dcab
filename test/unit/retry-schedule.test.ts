import { describe, expect, it } from 'vitest'
import { WAITS_SECONDS, waitAfter } from '../../server/webhooks/retry-schedule.ts'

const middle = 0.5
const nearlyOne = 1 - 2 ** -53

describe('the wait after a failed try', () => {
  it.each([
    [1, 5_000],
    [2, 300_000],
    [3, 1_800_000],
    [4, 7_200_000],
    [5, 18_000_000],
    [6, 36_000_000],
    [7, 36_000_000],
  ])('number %d is %d ms in the middle, a fifth less at least and a fifth more at most', (tries, ms) => {
    expect(waitAfter(tries, null, middle)).toBe(ms)
    expect(waitAfter(tries, null, 0)).toBe(ms * 0.8)
    expect(waitAfter(tries, null, nearlyOne)).toBe(ms * 1.2)
  })

  it('is none after the eighth, also when the receiver asks for one', () => {
    expect(waitAfter(8, null, middle)).toBeNull()
    expect(waitAfter(8, 60, middle)).toBeNull()
  })

  it('gives eight tries within about 28 hours', () => {
    const hours = WAITS_SECONDS.reduce((sum, seconds) => sum + seconds, 0) / 3600
    expect(WAITS_SECONDS).toHaveLength(7)
    expect(hours).toBeCloseTo(27.6, 1)
  })

  it('is as long as the receiver asks, up to an hour, and never shorter than ours', () => {
    expect(waitAfter(1, 60, middle)).toBe(60_000)
    expect(waitAfter(1, 3_600, middle)).toBe(3_600_000)
    expect(waitAfter(1, 3_601, middle)).toBe(3_600_000)
    expect(waitAfter(1, Number.POSITIVE_INFINITY, middle)).toBe(3_600_000)
    expect(waitAfter(1, 0, middle)).toBe(5_000)
    expect(waitAfter(4, 60, middle)).toBe(7_200_000)
    expect(waitAfter(6, 90_000, middle)).toBe(36_000_000)
  })
})
