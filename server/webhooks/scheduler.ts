import type { Slot as LimiterSlot, Limits } from './concurrency-limiter.ts'
import { createConcurrencyLimiter } from './concurrency-limiter.ts'
import { createPollCadence } from './poll-cadence.ts'

/** Between claims: slots that become free and events that are published meanwhile share one. */
const CLAIM_INTERVAL_MS = 20
/** Deliveries of one claim. */
const MAX_CLAIMED = 100
/** Subscriptions that one allocation considers. */
const MAX_CONSIDERED = 2_000
/** A subscription with claimed deliveries stays due this long without a poll. */
const STAYS_DUE_MS = 500
/** Nothing is claimed while event bodies of this size are in flight, or this many results are not yet written. */
const MAX_BYTES = 64 * 1024 * 1024
const MAX_UNWRITTEN = 4_096

interface Options {
  /** The longest pause between polls. */
  pollMs: number
  limits?: Partial<Limits>
}

/** What a poll found. Times are those of the scheduler's clock. */
export interface Poll {
  /** Subscriptions with due deliveries. */
  due: readonly string[]
  /** There may be more, which only the next poll sees. */
  more: boolean
  startedAt: number
  endedAt: number
}

export interface Slot extends LimiterSlot {
  bytes: number
}

export type Scheduler = ReturnType<typeof createScheduler>

/**
 * Decides when to poll, when to claim, and how many deliveries of which subscription. Pure: it has neither timers nor a
 * clock nor the database. `at` is the current time in ms, of a clock that only goes forward.
 */
export function createScheduler({ pollMs, limits }: Options) {
  const limiter = createConcurrencyLimiter(limits)
  const cadence = createPollCadence(pollMs)
  /** Due subscriptions and when that was last seen; the one that has waited longest for a claim comes first. */
  const due = new Map<string, number>()
  let bytes = 0
  let claimAt = Number.POSITIVE_INFINITY

  const claimBy = (at: number) => {
    claimAt = Math.min(claimAt, at)
  }

  /** Due subscriptions in turn: one that is considered moves behind the others. */
  function* rotate(at: number) {
    let left = Math.min(due.size, MAX_CONSIDERED)
    for (const [subscription, seenAt] of due) {
      if (left-- === 0) return
      due.delete(subscription)
      if (!limiter.isEligible(subscription, at)) continue
      due.set(subscription, seenAt)
      yield subscription
    }
  }

  return {
    nextPollAt: cadence.nextAt,

    /** When to poll or claim next. */
    nextTurnAt: () => Math.min(claimAt, cadence.nextAt()),

    /** Something was published. */
    wake: cadence.wake,

    polled(poll: Poll) {
      const { endedAt } = poll
      for (const subscription of poll.due) {
        if (!due.has(subscription) && limiter.isEligible(subscription, endedAt)) due.set(subscription, endedAt)
      }
      cadence.polled(poll)
    },

    /** The database is unavailable: polls again in `pollMs`. */
    failed(at: number) {
      due.clear()
      claimAt = Number.POSITIVE_INFINITY
      cadence.failed(at)
    },

    /** How many deliveries to claim, by subscription; `unwritten` results are still to be written. */
    allocate(at: number, unwritten: number): Map<string, number> {
      claimAt = Number.POSITIVE_INFINITY
      if (bytes > MAX_BYTES || unwritten > MAX_UNWRITTEN) return new Map()
      const allocation = limiter.allocate(rotate(at), MAX_CLAIMED, at)
      if (allocation.size === 0 && due.size > MAX_CONSIDERED) claimBy(at + CLAIM_INTERVAL_MS)
      return allocation
    },

    /** A claim for `allocation` returned these deliveries. Their subscriptions may have more, and move behind others. */
    claimed(at: number, allocation: ReadonlyMap<string, number>, deliveries: readonly { subscription: string }[]) {
      if (deliveries.length > 0) cadence.claimed()
      const served = new Set(deliveries.map(({ subscription }) => subscription))
      for (const subscription of allocation.keys()) {
        const seenAt = served.has(subscription) ? at : due.get(subscription)!
        due.delete(subscription)
        if (at - seenAt < STAYS_DUE_MS) due.set(subscription, seenAt)
      }
      claimBy(deliveries.length < MAX_CLAIMED ? at + CLAIM_INTERVAL_MS : at)
    },

    /** An attempt starts; its slot is to be given back with `finished`. */
    started({ subscription, body }: { subscription: string; body: string }, at: number): Slot {
      bytes += body.length
      return { ...limiter.started(subscription, at), bytes: body.length }
    },

    finished(slot: Slot, delivered: boolean, at: number) {
      bytes -= slot.bytes
      limiter.finished(slot, delivered, at)
      if (due.size > 0) claimBy(at + CLAIM_INTERVAL_MS)
    },
  }
}
