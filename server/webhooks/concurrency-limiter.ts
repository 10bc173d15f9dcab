import { LRUCache } from 'lru-cache'
import { MAX_BODY_BYTES } from '../../routers/webhooks/events.ts'
import type { Health, SharedLimits } from './app-shares.ts'
import { createAppShares } from './app-shares.ts'
import type { DueSubscription } from './due-subscriptions.ts'

const LIMITS = {
  /** A subscription's concurrent deliveries. */
  perSubscription: 32,
  /** New and failing subscriptions in one allocation: each needs a connection, which costs as much as ten deliveries. */
  connections: 8,
  /** Subscriptions whose state is remembered; a forgotten one is new again. */
  remembered: 20_000,
}

export type Limits = typeof LIMITS & SharedLimits

/** The backoff doubles with each further failure, and is at least this multiple of the attempt's duration. */
const MIN_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 60_000
const BACKOFF_PER_DURATION = 4

interface State {
  health: Health
  concurrency: number
  /** Consecutive failures; attempts that were in flight together count once. */
  failures: number
  failedAt: number
  backoffUntil: number
}

export interface Startable {
  subscription: string
  app: string
  body: string
}

export interface Slot {
  subscription: string
  app: string
  health: Health
  bytes: number
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
 * Limits the deliveries in flight. A subscription starts with one; each success doubles its concurrency, a failure resets it to
 * one and makes it back off. So a receiver that never responds occupies one slot for a fifth of the time, whatever its backlog.
 * `at` is the current time in ms, of a clock that only goes forward.
 */
export function createConcurrencyLimiter(limits: Partial<Limits> = {}) {
  const { perSubscription, connections, remembered } = { ...LIMITS, ...limits }
  const states = new LRUCache<string, State>({ max: remembered })
  const readState = (subscription: string) => states.get(subscription) ?? initial
  const inFlight = new Map<string, number>()
  const shares = createAppShares(limits)

  function afterFailure(state: State, startedAt: number, at: number): State {
    const failures = startedAt < state.failedAt ? state.failures : state.failures + 1
    const backoff = Math.max(MIN_BACKOFF_MS * 2 ** (failures - 1), BACKOFF_PER_DURATION * (at - startedAt))
    const backoffUntil = at + Math.min(backoff, MAX_BACKOFF_MS)
    return { health: 'failing', concurrency: 1, failures, failedAt: at, backoffUntil }
  }

  return {
    /** Whether a claim for the subscription can soon succeed: it is healthy, or could start a delivery now. */
    isEligible(subscription: string, at: number): boolean {
      const { health, backoffUntil } = readState(subscription)
      return health === 'healthy' || (backoffUntil <= at && !inFlight.has(subscription))
    },

    /** The subscription may start a delivery now; the next failure makes it back off as long as otherwise. */
    endBackoff(subscription: string, at: number) {
      const state = states.get(subscription)
      if (state && state.backoffUntil > at) states.set(subscription, { ...state, backoffUntil: at })
    },

    inFlight: shares.inFlight,

    /** How many more deliveries each subscription may start, in the given order, together at most `max`. */
    allocate(subscriptions: Iterable<DueSubscription>, max: number, at: number): Map<string, number> {
      const allocation = new Map<string, number>()
      const taken: Parameters<typeof shares.take>[0][] = []
      const fairParts = new Map<string, number>()
      let left = max
      let newConnections = 0
      for (const { id, app } of subscriptions) {
        const { health, concurrency, backoffUntil } = readState(id)
        const unused = concurrency - (inFlight.get(id) ?? 0)
        if (unused <= 0 || backoffUntil > at || (health !== 'healthy' && newConnections >= connections)) continue
        // When slots are scarce, each subscription gets only a part of its app's and leaves the rest to others.
        const fairPart = fairParts.get(app) ?? Math.ceil(shares.slots(app) / 16)
        fairParts.set(app, fairPart)
        const count = Math.min(unused, fairPart, left, shares.capacity(app, health))
        if (count <= 0) continue
        if (health !== 'healthy') newConnections++
        allocation.set(id, count)
        taken.push({ app, health, count, bytes: count * MAX_BODY_BYTES })
        shares.take(taken.at(-1)!)
        left -= count
        // Checked before the next one is drawn, which would move to the end of the queue.
        if (left === 0) break
      }
      // `started` takes the slots of what is actually claimed.
      for (const held of taken) shares.give(held)
      return allocation
    },

    /** Takes a slot, to be given back with `finished`. */
    started({ subscription, app, body }: Startable, at: number): Slot {
      const slot = { subscription, app, health: readState(subscription).health, bytes: body.length, startedAt: at }
      shares.take({ ...slot, count: 1 })
      inFlight.set(subscription, (inFlight.get(subscription) ?? 0) + 1)
      return slot
    },

    finished(slot: Slot, delivered: boolean, at: number) {
      const { subscription, startedAt } = slot
      shares.give({ ...slot, count: 1 })
      const left = inFlight.get(subscription)! - 1
      if (left > 0) inFlight.set(subscription, left)
      else inFlight.delete(subscription)
      const state = readState(subscription)
      const concurrency = Math.min(perSubscription, state.concurrency * 2)
      const next = delivered
        ? { ...initial, health: 'healthy' as const, concurrency }
        : afterFailure(state, startedAt, at)
      states.set(subscription, next)
    },
  }
}
