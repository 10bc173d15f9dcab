import type { Breaker } from './breaker.ts'
import type { Limit, Taken } from './limit.ts'
import { removeEnded } from './limit.ts'

export interface Counted {
  consumedPoints: number
  msBeforeNext: number
}

interface Options {
  points: number
  windowSeconds: number
  /** The number of processes that share the limit while the store is unavailable. */
  nodes: number
  breaker: Breaker
  /** Adds points (may be negative) to a key's count, and begins a window if none is running. */
  add: (key: string, points: number) => Promise<Counted>
  /** In milliseconds; never goes back. */
  now?: () => number
}

/** This process's part of a key's window. */
interface Held {
  ends: number
  /** How much later the window may end: the duration of the reply that gave its end. */
  uncertainty: number
  left: number
  /** The last count, and this process's part of it. */
  counted: number
  ours: number
  /** Points to be counted: requests that passed while the store was unavailable, minus those given back. */
  pending: number
  /** Until then the store is not asked, as the limit is reached. */
  reachedUntil: number
  asking: boolean
  waiting: ((taken: Taken) => void)[]
  since: number
}

/** After this time, processes that know the limit as reached see points that were given back. */
const REACHED_MS = 1_000

/** Before the end of a window. */
const SAFE_MS = 1_000

/** Within a window, the clocks of this machine and the store differ by less than this. */
const DRIFT_MS = 50

/** Points leased at once for later requests. Small limits are exact: nobody is refused while a point is left. */
export const leaseSize = (points: number) => (points < 1_000 ? 1 : Math.ceil(points / 100))

/**
 * One count for all processes. A process has one call in flight per key; it takes points for all waiting requests, and at least a
 * lease. While the store is unavailable, the process gives out its share of the remaining points, and reports it afterwards.
 */
export class SharedLimit implements Limit {
  readonly #options: Options
  readonly #lease: number
  readonly #now: () => number
  /** In the order in which their windows began. */
  readonly #held = new Map<string, Held>()

  constructor(options: Options) {
    this.#options = options
    this.#lease = leaseSize(options.points)
    this.#now = options.now ?? (() => performance.now())
  }

  get size(): number {
    return this.#held.size
  }

  take(key: string): Taken | Promise<Taken> {
    const now = this.#now()
    removeEnded(this.#held, now)
    let held = this.#held.get(key)
    if (held === undefined || (now >= held.ends && !held.asking)) held = this.#begin(key)
    if (held.waiting.length === 0 && (now < held.ends || !held.asking)) {
      const taken = this.#decide(held, now)
      if (taken) return taken
    }
    return this.#wait(key, held)
  }

  giveBack(key: string) {
    const held = this.#held.get(key)
    if (!held || this.#now() >= held.ends) return
    held.pending--
    held.reachedUntil = 0
    if (!held.asking && !this.#options.breaker.away) void this.#ask(key, held)
  }

  /** Gives unused points back, except those that might count in the next window. */
  async close() {
    if (this.#options.breaker.away) return
    const now = this.#now() + SAFE_MS
    const unused = [...this.#held].filter(([, { left, ends, asking }]) => left > 0 && now < ends && !asking)
    await Promise.all(
      unused.map(([key, held]) => {
        held.pending -= held.left
        held.left = 0
        return this.#ask(key, held)
      }),
    )
  }

  #begin(key: string): Held {
    const counts = { ends: 0, uncertainty: 0, left: 0, counted: 0, ours: 0, pending: 0, reachedUntil: 0 }
    const held: Held = { ...counts, asking: false, waiting: [], since: 0 }
    this.#held.delete(key)
    this.#held.set(key, held)
    return held
  }

  #wait(key: string, held: Held): Promise<Taken> {
    return new Promise((resolve) => {
      if (held.waiting.push(resolve) === 1) held.since = this.#options.breaker.turns
      if (!held.asking) void this.#ask(key, held)
    })
  }

  /** Undefined when the store has to be asked. */
  #decide(held: Held, now: number): Taken | undefined {
    if (held.left > 0) {
      held.left--
      return this.#taken(held, now, true)
    }
    if (this.#options.breaker.away) return this.#decideAlone(held, now)
    return now < held.reachedUntil ? this.#taken(held, now, false) : undefined
  }

  #decideAlone(held: Held, now: number): Taken {
    if (now >= held.ends) {
      Object.assign(held, {
        ends: now + this.#options.windowSeconds * 1000,
        uncertainty: 0,
        counted: 0,
        ours: 0,
        pending: 0,
      })
    }
    const passes = held.pending < this.#computeShare(held)
    if (passes) held.pending++
    return this.#taken(held, now, passes)
  }

  /** A share of the points left by the last count: together the processes stay within the limit. */
  #computeShare({ counted }: Held): number {
    const { points, nodes } = this.#options
    return Math.ceil(Math.max(0, points - counted) / nodes)
  }

  #taken(held: Held, now: number, passes: boolean): Taken {
    const rest = this.#options.breaker.away ? this.#computeShare(held) : this.#options.points - held.counted
    return {
      passes,
      remaining: passes ? Math.max(0, rest - held.pending) + held.left : 0,
      msBeforeNext: held.ends - now,
    }
  }

  async #ask(key: string, held: Held): Promise<void> {
    const { breaker, add } = this.#options
    const { waiting: asking, pending } = held
    const since = asking.length > 0 ? held.since : breaker.turns
    const points = asking.length > 0 ? Math.max(this.#lease, asking.length) : 0
    held.waiting = []
    held.asking = true
    const sent = this.#now()
    await breaker.run(
      () => add(key, points + pending),
      since,
      (counted) => counted && this.#settle(held, counted, { points, pending, sent }),
    )
    held.asking = false
    if (held.waiting.length === 0) held.since = since
    this.#serve(key, held, asking.concat(held.waiting))
  }

  #settle(
    held: Held,
    { consumedPoints, msBeforeNext }: Counted,
    call: { points: number; pending: number; sent: number },
  ) {
    const { points, pending, sent } = call
    const now = this.#now()
    // At the latest the actual end, so that no point is used in the next window.
    const ends = sent + msBeforeNext
    held.pending -= pending
    let lost = 0
    if (ends > held.ends + held.uncertainty + DRIFT_MS) {
      // Another window. If the process's own window is not over, the store has lost it, as after a restart: its points are
      // pending again.
      if (now < held.ends) lost = held.ours
      else held.left = 0
      held.ours = 0
    }
    const granted = Math.min(points, Math.max(0, this.#options.points - consumedPoints - lost + points))
    // Requests that waited too long for this reply have passed without it.
    const used = Math.min(granted, Math.max(0, held.pending))
    held.ends = ends
    held.uncertainty = now - sent
    held.counted = consumedPoints
    held.ours += points + pending
    held.pending += lost - used
    held.left += granted - used
    held.reachedUntil = granted < points ? Math.min(ends, now + REACHED_MS) : 0
  }

  #serve(key: string, held: Held, waiting: Held['waiting']) {
    const now = this.#now()
    let served = 0
    for (const resolve of waiting) {
      const taken = this.#decide(held, now)
      if (!taken) break
      resolve(taken)
      served++
    }
    held.waiting = waiting.slice(served)
    const hasPending = held.pending !== 0 && now < held.ends && !this.#options.breaker.away
    if (held.waiting.length > 0 || hasPending) void this.#ask(key, held)
  }
}
