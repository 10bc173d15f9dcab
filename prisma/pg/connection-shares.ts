import type { PoolObserver } from './observed-pool.ts'
import { CONNECTION, NO_PLACE } from './observed-pool.ts'

/** A team; null for the first-party clients together. */
export type Holder = string | null

interface Options {
  /** The connections of the pool. */
  places: number
  /** Who waits longer gets the error of a pool whose connections are in use for too long. */
  waitMs: number
  observer?: Partial<Pick<PoolObserver, 'began' | 'waited' | 'timedOut'>> | undefined
}

interface Waiter {
  since: number
  admit: () => void
  refuse: () => void
}

/**
 * The connections of a pool, shared among teams: while one team waits, another uses at most half of them. Alone it may use all. What
 * does not pass here (housekeeping, sign-in) takes any connection.
 */
export class ConnectionShares {
  readonly #options: Options
  #inUse = 0
  readonly #held = new Map<Holder, number>()
  /** Each holder's in the order in which they came. */
  readonly #waiting = new Map<Holder, Waiter[]>()
  /** For the longest waiting of all: one for each of them took 1 us of a request. */
  #timer: NodeJS.Timeout | undefined

  constructor(options: Options) {
    this.#options = options
  }

  get waiting() {
    let count = 0
    for (const { length } of this.#waiting.values()) count += length
    return count
  }

  run<T>(holder: Holder, work: () => Promise<T>): Promise<T> {
    // A continuation of the caller's, so that its spans are too.
    if (this.#inUse >= this.#options.places) return this.#wait(holder).then(() => this.#begin(holder, work))
    // Nobody waits while a place is free.
    this.#enter(holder)
    return this.#begin(holder, work)
  }

  #enter(holder: Holder) {
    this.#inUse++
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + 1)
  }

  #begin<T>(holder: Holder, work: () => Promise<T>): Promise<T> {
    const leave = () => this.#leave(holder)
    try {
      const done = work()
      done.then(leave, leave)
      return done
    } catch (error) {
      leave()
      throw error
    }
  }

  #leave(holder: Holder) {
    this.#inUse--
    const held = this.#held.get(holder)! - 1
    if (held === 0) this.#held.delete(holder)
    else this.#held.set(holder, held)
    this.#next()?.admit()
  }

  /** Takes from the first holder below its half, else from the first. A holder that is served moves behind the others. */
  #next(): Waiter | undefined {
    const half = this.#options.places / 2
    let chosen: Holder | undefined
    for (const holder of this.#waiting.keys()) {
      const isBelow = (this.#held.get(holder) ?? 0) < half
      if (isBelow || chosen === undefined) chosen = holder
      if (isBelow) break
    }
    if (chosen === undefined) return undefined
    const waiters = this.#waiting.get(chosen)!
    const first = waiters.shift()
    if (waiters.length === 0) this.#waiting.delete(chosen)
    else if (this.#waiting.size > 1) {
      this.#waiting.delete(chosen)
      this.#waiting.set(chosen, waiters)
    }
    return first
  }

  #wait(holder: Holder): Promise<void> {
    const { began, waited, timedOut } = this.#options.observer ?? {}
    const [since, end] = [performance.now(), began?.(CONNECTION)]
    const ended = (failure?: Error) => {
      end?.(failure)
      waited?.((performance.now() - since) / 1_000)
    }
    return new Promise((resolve, reject) => {
      const waiter = {
        since,
        admit: () => {
          ended()
          this.#enter(holder)
          resolve()
        },
        refuse: () => {
          const failure = new Error(NO_PLACE)
          ended(failure)
          timedOut?.()
          reject(failure)
        },
      }
      const waiters = this.#waiting.get(holder)
      if (waiters) waiters.push(waiter)
      else this.#waiting.set(holder, [waiter])
      this.#timer ??= this.#refuseIn(this.#options.waitMs)
    })
  }

  #refuseIn(ms: number) {
    return setTimeout(() => {
      const now = performance.now()
      let earliest = Number.POSITIVE_INFINITY
      for (const [holder, waiters] of this.#waiting) {
        while (waiters[0] && now - waiters[0].since >= this.#options.waitMs - 1) waiters.shift()!.refuse()
        if (waiters[0]) earliest = Math.min(earliest, waiters[0].since)
        else this.#waiting.delete(holder)
      }
      this.#timer = earliest < now ? this.#refuseIn(earliest + this.#options.waitMs - now) : undefined
    }, ms).unref()
  }
}
