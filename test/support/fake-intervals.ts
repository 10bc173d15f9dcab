import { onTestFinished, vi } from 'vitest'
import { Deadline } from '../../routers/kernel/deadline.ts'
import { deferred } from './deferred.ts'

/**
 * Fakes setInterval until the test ends, for the lines of streams at rest. One deadline runs meanwhile: the timer that all
 * deadlines share is a real one then, and the next test file of this process has it.
 */
export function fakeIntervals() {
  const end = deferred()
  void new Deadline(Number.POSITIVE_INFINITY).bound(end.promise)
  vi.useFakeTimers({ toFake: ['setInterval'] })
  onTestFinished(() => {
    vi.useRealTimers()
    end.resolve()
  })
}
