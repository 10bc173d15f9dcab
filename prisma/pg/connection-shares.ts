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

/**
 * The connections of a pool, shared among teams: while one team waits, another uses at most half of them. Alone it may use all. What
 * does not pass here (housekeeping, sign-in) takes any connection.
 */
export class ConnectionShares {
  readonly #options: Options
  #inUse = 0
  readonly #held = new Map<Holder, number>()
  readonly #waiting = new Map<Holder, Set<() => void>>()

  constructor(options: Options) {
    this.#options = options
  }

  get waiting() {
    let count = 0
    for (const { size } of this.#waiting.values()) count += size
    return count
  }

  run<T>(holder: Holder, work: () => Promise<T>): Promise<T> {
    // Nobody waits while a place is free.
    if (this.#inUse >= this.#options.places) return this.#observedWait(holder).then(() => this.#begin(holder, work))
    this.#enter(holder)
    return this.#begin(holder, work)
  }

  /** Without another promise around that of the work, in a path of every request. */
  #begin<T>(holder: Holder, work: () => Promise<T>): Promise<T> {
    const leave = () => this.#leave(holder)
    const done = work()
    done.then(leave, leave)
    return done
  }

  #enter(holder: Holder) {
    this.#inUse++
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + 1)
  }

  #leave(holder: Holder) {
    this.#inUse--
    const held = this.#held.get(holder)! - 1
    if (held === 0) this.#held.delete(holder)
    else this.#held.set(holder, held)
    this.#next()?.()
  }

  /** Takes from the first holder below its half, else from the first. A holder that is served moves behind the others. */
  #next(): (() => void) | undefined {
    if (this.#waiting.size === 0) return undefined
    const holders = [...this.#waiting.keys()]
    const half = this.#options.places / 2
    const holder = holders.find((one) => (this.#held.get(one) ?? 0) < half) ?? holders[0]!
    const waiting = this.#waiting.get(holder)!
    this.#waiting.delete(holder)
    this.#waiting.set(holder, waiting)
    return waiting.values().next().value
  }

  async #observedWait(holder: Holder) {
    const { began, waited, timedOut } = this.#options.observer ?? {}
    const [start, end] = [performance.now(), began?.(CONNECTION)]
    const failure = await this.#wait(holder)
    end?.(failure)
    waited?.((performance.now() - start) / 1_000)
    if (!failure) return
    timedOut?.()
    throw failure
  }

  #wait(holder: Holder): Promise<Error | undefined> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(holder) ?? new Set()
      this.#waiting.set(holder, waiting)
      const stop = () => {
        clearTimeout(timer)
        waiting.delete(admit)
        if (waiting.size === 0) this.#waiting.delete(holder)
      }
      const admit = () => {
        stop()
        this.#enter(holder)
        resolve(undefined)
      }
      const timer = setTimeout(() => {
        stop()
        resolve(new Error(NO_PLACE))
      }, this.#options.waitMs)
      waiting.add(admit)
    })
  }
}
