import type { Limit, Limits, Taken } from './limit.ts'
import { removeEnded } from './limit.ts'

interface Window {
  ends: number
  used: number
}

/** Counts in this process only. `now` is in milliseconds and never goes back. */
export function memoryLimits(now = () => performance.now()): Limits {
  const opened = new Map<string, Limit>()
  return {
    open(name, points, windowSeconds) {
      const limit = opened.get(name) ?? new MemoryLimit(points, windowSeconds, now)
      opened.set(name, limit)
      return limit
    },
    store: () => 'memory',
    failures: () => 0,
    async close() {},
  }
}

export class MemoryLimit implements Limit {
  /** Windows in the order of their beginning, and so of their end. */
  readonly #windows = new Map<string, Window>()
  readonly #points: number
  readonly #windowMs: number
  readonly #now: () => number

  constructor(points: number, windowSeconds: number, now: () => number) {
    this.#points = points
    this.#windowMs = windowSeconds * 1000
    this.#now = now
  }

  get size(): number {
    return this.#windows.size
  }

  take(key: string): Taken {
    const now = this.#now()
    removeEnded(this.#windows, now)
    const window = this.#open(key, now) ?? this.#begin(key, now)
    window.used++
    const left = this.#points - window.used
    return { passes: left >= 0, remaining: Math.max(0, left), msBeforeNext: window.ends - now }
  }

  giveBack(key: string) {
    const window = this.#open(key, this.#now())
    if (window) window.used--
  }

  #open(key: string, now: number): Window | undefined {
    const window = this.#windows.get(key)
    return window && now < window.ends ? window : undefined
  }

  #begin(key: string, now: number): Window {
    const window = { ends: now + this.#windowMs, used: 0 }
    this.#windows.delete(key)
    this.#windows.set(key, window)
    return window
  }
}
