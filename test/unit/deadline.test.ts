import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Deadline } from '../../routers/kernel/deadline.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

it('a deadline that was restarted is over after the whole time again', () => {
  const deadline = new Deadline(1_000)
  vi.advanceTimersByTime(900)
  deadline.restart()
  vi.advanceTimersByTime(900)
  expect(deadline.isOver).toBe(false)
  vi.advanceTimersByTime(100)
  expect(deadline.isOver).toBe(true)
})
