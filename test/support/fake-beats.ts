import { onTestFinished, vi } from 'vitest'

/** The period of the lines that streams send at rest. */
const EVERY_MS = 15_000

/**
 * Until the test ends, streams at rest send their lines when the returned function is called. Other intervals stay real: requests
 * share timers, and a faked one that other files of this process find would never fire.
 */
export function fakeBeats() {
  const setReal = globalThis.setInterval
  const beats: (() => void)[] = []
  const spy = vi.spyOn(globalThis, 'setInterval').mockImplementation(((work: () => void, ms?: number) => {
    if (ms !== EVERY_MS) return setReal(work, ms)
    beats.push(work)
    return setReal(() => {}, 2 ** 31 - 1).unref()
  }) as typeof setInterval)
  onTestFinished(() => spy.mockRestore())
  return () => {
    for (const beat of beats) beat()
  }
}
