import { describe, expect, it } from 'vitest'
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
