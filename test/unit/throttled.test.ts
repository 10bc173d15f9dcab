import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { throttled } from '../../server/oauth/keys/throttled.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

function counted() {
  const count = { runs: 0 }
  const call = throttled(async () => void count.runs++, 1_000)
  return { count, call }
}

it('a throttled run begins at once, and then once a second however many ask for it', async () => {
  const { count, call } = counted()
  await call()
  expect(count.runs).toBe(1)
  for (let second = 2; second <= 4; second++) {
    const asked = Array.from({ length: 50 }, call)
    await vi.advanceTimersByTimeAsync(999)
    expect(count.runs).toBe(second - 1)
    await vi.advanceTimersByTimeAsync(1)
    await Promise.all(asked)
    expect(count.runs).toBe(second)
  }
})

it('a throttled run begins at once again when nobody has asked for a second', async () => {
  const { count, call } = counted()
  await call()
  await vi.advanceTimersByTimeAsync(1_000)
  await call()
  expect(count.runs).toBe(2)
})
