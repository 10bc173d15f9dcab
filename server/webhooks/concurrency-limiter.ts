import { LRUCache } from 'lru-cache'

/** Deliveries in flight at once, in one worker. */
const LIMITS = {
  total: 2_048,
  /** Of new and failing subscriptions together: healthy ones always find slots. */
  newOrFailing: 1_536,
  /** Of failing subscriptions: new ones find slots as well. */
  failing: 1_024,
  perSubscription: 32,
  /** New and failing subscriptions in one allocation: each needs a connection, which costs as much as ten deliveries. */
  connections: 8,
  /** Subscriptions whose state is remembered; a forgotten one is new again. */
  remembered: 20_000,
}

export type Limits = typeof LIMITS

/** A failure's backoff doubles with each further one, and is at least this multiple of the attempt's duration. */
const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 60_000
const BACKOFF_PER_DURATION = 4

type Health = 'new' | 'healthy' | 'failing'

interface State {
  health: Health
  /** Deliveries that may be in flight. */
  concurrency: number
  /** In a row; attempts that were in flight together count once. */
  failures: number
  failedAt: number
  backoffUntil: number
}

/** A delivery in flight. */
export interface Slot {
  subscription: string
  /** Of the subscription when the attempt started. */
  health: Health
  startedAt: number
}

const initial: State = {
  health: 'new',
  concurrency: 1,
  failures: 0,
  failedAt: Number.NEGATIVE_INFINITY,
  backoffUntil: Number.NEGATIVE_INFINITY,
}

export type ConcurrencyLimiter = ReturnType<typeof createConcurrencyLimiter>

/**
 * Limits the deliveries in flight. A subscription starts with one; each success doubles its concurrency, a failure sets
 * it back to one and makes it back off. So a receiver that never responds holds one slot for a fifth of the time,
 * however much is pending for it. `at` is the current time in ms, of a clock that only goes forward.
 */
export function createConcurrencyLimiter(limits: Partial<Limits> = {}) {
  const { total, newOrFailing, failing, perSubscription, connections, remembered } = { ...LIMITS, ...limits }
  const states = new LRUCache<string, State>({ max: remembered })
  const stateOf = (subscription: string) => states.get(subscription) ?? initial
  const inFlight = new Map<string, number>()
  const used: Record<Health, number> = { new: 0, healthy: 0, failing: 0 }

  const free = (health: Health, taken: Record<Health, number>) =>
    Math.min(
      total - taken.new - taken.healthy - taken.failing,
      health === 'healthy' ? total : newOrFailing - taken.new - taken.failing,
      health === 'failing' ? failing - taken.failing : total,
    )

  function afterFailure(state: State, startedAt: number, at: number): State {
    const failures = startedAt < state.failedAt ? state.failures : state.failures + 1
    const backoff = Math.max(MIN_BACKOFF_MS * 2 ** (failures - 1), BACKOFF_PER_DURATION * (at - startedAt))
    const backoffUntil = at + Math.min(backoff, MAX_BACKOFF_MS)
    return { health: 'failing', concurrency: 1, failures, failedAt: at, backoffUntil }
  }

  return {
    /** Whether a claim for the subscription can soon succeed: it is healthy, or could start a delivery now. */
    isEligible(subscription: string, at: number): boolean {
      const { health, backoffUntil } = stateOf(subscription)
      return health === 'healthy' || (backoffUntil <= at && !inFlight.has(subscription))
    },

    inFlight: () => used.new + used.healthy + used.failing,

    /** How many more deliveries each subscription may start, in the order given, together at most `max`. */
    allocate(subscriptions: Iterable<string>, max: number, at: number): Map<string, number> {
      const allocation = new Map<string, number>()
      const taken = { ...used }
      // When slots are scarce, each subscription gets only a part of the free ones and leaves the rest to others.
      const fairPart = Math.ceil(free('healthy', used) / 16)
      let left = max
      let newConnections = 0
      for (const subscription of subscriptions) {
        const { health, concurrency, backoffUntil } = stateOf(subscription)
        const unused = concurrency - (inFlight.get(subscription) ?? 0)
        const count = Math.min(unused, fairPart, left, free(health, taken))
        if (count <= 0 || backoffUntil > at) continue
        if (health !== 'healthy' && newConnections++ >= connections) continue
        allocation.set(subscription, count)
        taken[health] += count
        left -= count
        // Before the next one is drawn: that would lose its turn.
        if (left === 0) break
      }
      return allocation
    },

    /** Takes a slot, to be given back with `finished`. */
    started(subscription: string, at: number): Slot {
      const { health } = stateOf(subscription)
      used[health]++
      inFlight.set(subscription, (inFlight.get(subscription) ?? 0) + 1)
      return { subscription, health, startedAt: at }
    },

    finished({ subscription, health, startedAt }: Slot, delivered: boolean, at: number) {
      used[health]--
      const left = inFlight.get(subscription)! - 1
      if (left > 0) inFlight.set(subscription, left)
      else inFlight.delete(subscription)
      const state = stateOf(subscription)
      const concurrency = Math.min(perSubscription, state.concurrency * 2)
      const next = delivered
        ? { ...initial, health: 'healthy' as const, concurrency }
        : afterFailure(state, startedAt, at)
      states.set(subscription, next)
    },
  }
}
