import { AsyncResource } from 'node:async_hooks'
import type pg from 'pg'
import type { Connected, PoolObserver } from './observed-pool.ts'
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
  holder: Holder
  since: number
  callback: Connected
  ended: (failure?: Error) => void
}

/** The part of pg's pool that this class uses. */
export interface Connections {
  connect: (callback: Connected) => void
  /** Calls in the pool's own queue: Prisma's, and those without a holder. */
  waitingCount: number
}

/**
 * The connections of a pool, shared among teams: while one team waits, another uses at most half of them. Alone it may use all. What
 * has no holder (housekeeping, sign-in) takes any connection.
 *
 * A connection that is given back goes to the next who waits without a visit to the pool, where it would be idle for a moment: 4 us
 * of a request.
 */
export class ConnectionShares {
  readonly #pool: Connections
  readonly #options: Options
  #inUse = 0
  readonly #held = new Map<Holder, number>()
  /** Each holder's in the order in which they came. */
  readonly #waiting = new Map<Holder, Waiter[]>()
  /** For the longest waiting of all: one for each of them took 1 us of a request. */
  #timer: NodeJS.Timeout | undefined

  constructor(pool: Connections, options: Options) {
    this.#pool = pool
    this.#options = options
  }

  get waiting() {
    let count = 0
    for (const { length } of this.#waiting.values()) count += length
    return count
  }

  /** Calls back with a connection, which the third argument gives back, with an error where it is not to be used again. */
  connect(holder: Holder | undefined, callback: Connected): void {
    if (holder === undefined) this.#pool.connect(callback)
    else if (this.#inUse >= this.#options.places) this.#wait(holder, callback)
    // Nobody waits while a place is free.
    else this.#open(holder, callback)
  }

  #open(holder: Holder, callback: Connected) {
    this.#enter(holder)
    const connected: Connected = (failure, client, release) => {
      if (!failure) return this.#use(holder, client!, release, callback)
      this.#leave(holder)
      callback(failure, undefined, release)
      const next = this.#next()
      // In a tick of its own: a pool that has ended refuses at once, each after the other.
      if (next) process.nextTick(() => this.#open(next.holder, next.callback))
    }
    try {
      this.#pool.connect(connected)
    } catch (error) {
      // Otherwise its place would stay taken.
      connected(error as Error, undefined, () => {})
    }
  }

  #use(holder: Holder, client: pg.PoolClient, release: (error?: unknown) => void, callback: Connected) {
    callback(undefined, client, (error) => {
      this.#leave(holder)
      const next = this.#next()
      if (next && !error && this.#pool.waitingCount === 0) {
        this.#enter(next.holder)
        this.#use(next.holder, client, release, next.callback)
      } else {
        release(error)
        if (next) this.#open(next.holder, next.callback)
      }
    })
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
    first?.ended()
    return first
  }

  #wait(holder: Holder, callback: Connected) {
    const { began, waited, timedOut } = this.#options.observer ?? {}
    const [since, end] = [performance.now(), began?.(CONNECTION)]
    const waiter: Waiter = {
      holder,
      since,
      // It is called in the async context of the one that gives the connection back.
      callback: began ? (AsyncResource.bind(callback) as Connected) : callback,
      ended(failure) {
        end?.(failure)
        waited?.((performance.now() - since) / 1_000)
        if (failure) timedOut?.()
      },
    }
    const waiters = this.#waiting.get(holder)
    if (waiters) waiters.push(waiter)
    else this.#waiting.set(holder, [waiter])
    this.#timer ??= this.#refuseIn(this.#options.waitMs)
  }

  #refuse({ ended, callback }: Waiter) {
    const failure = new Error(NO_PLACE)
    ended(failure)
    callback(failure, undefined, () => {})
  }

  #refuseIn(ms: number) {
    return setTimeout(() => {
      const now = performance.now()
      let earliest = Number.POSITIVE_INFINITY
      for (const [holder, waiters] of this.#waiting) {
        while (waiters[0] && now - waiters[0].since >= this.#options.waitMs - 1) this.#refuse(waiters.shift()!)
        if (waiters[0]) earliest = Math.min(earliest, waiters[0].since)
        else this.#waiting.delete(holder)
      }
      this.#timer = earliest < now ? this.#refuseIn(earliest + this.#options.waitMs - now) : undefined
    }, ms).unref()
  }
}
