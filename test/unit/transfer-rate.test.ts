import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { watchRate } from '../../server/http/transfer-rate.ts'

const RATE = { bytesPerSecond: 1000, graceMs: 10_000 }

let bytes = 0
let end = () => {}
const onTooSlow = vi.fn()
beforeEach(() => {
  vi.useFakeTimers()
  bytes = 0
  onTooSlow.mockClear()
  end = watchRate(RATE, () => bytes, onTooSlow)
})
afterEach(() => {
  end()
  vi.useRealTimers()
})

/** Transfers a number of bytes each second. */
function transfer(bytesPerSecond: number, seconds: number) {
  for (let second = 0; second < seconds; second++) {
    bytes += bytesPerSecond
    vi.advanceTimersByTime(1000)
  }
}

it('lets a transfer at the rate go on', () => {
  transfer(1000, 600)
  expect(onTooSlow).not.toHaveBeenCalled()
})

it('ends a transfer below the rate once, when its grace is used up', () => {
  transfer(500, 19)
  expect(onTooSlow).not.toHaveBeenCalled()
  transfer(500, 10)
  expect(onTooSlow).toHaveBeenCalledOnce()
})

it('ends a transfer that stands still, however fast it was before', () => {
  transfer(1_000_000, 3)
  transfer(0, 9)
  expect(onTooSlow).not.toHaveBeenCalled()
  transfer(0, 1)
  expect(onTooSlow).toHaveBeenCalledOnce()
})

it('does nothing after its end', () => {
  end()
  transfer(0, 60)
  expect(onTooSlow).not.toHaveBeenCalled()
})
