import { onTestFinished, vi } from 'vitest'

/** Timers of exactly `ms`, in place of which `pass` is called once all `count` of them are set; then they end. */
export function runTimers(ms: number, count: number, pass: () => void = () => {}) {
  const set: (() => void)[] = []
  const { setTimeout: other } = globalThis
  const held = (run: () => void, after?: number) => {
    if (after !== ms) return other(run, after)
    if (set.push(run) % count === 0) {
      pass()
      for (const one of set.slice(-count)) queueMicrotask(one)
    }
    return 0
  }
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(held as typeof setTimeout)
  onTestFinished(() => spy.mockRestore())
  return set
}
