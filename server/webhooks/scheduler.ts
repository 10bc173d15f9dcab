import type { Limits, Slot, Startable } from './concurrency-limiter.ts'
import { createConcurrencyLimiter } from './concurrency-limiter.ts'
import type { DueSubscription } from './due-subscriptions.ts'
import { createDueSubscriptions } from './due-subscriptions.ts'
import { createPollCadence } from './poll-cadence.ts'

/** Between claims: slots that become free and events published meanwhile share one claim. */
const CLAIM_INTERVAL_MS = 20
const MAX_CLAIMED = 100
const MAX_CONSIDERED = 2_000
/** A subscription with claimed deliveries stays due this long without a poll. */
const STAYS_DUE_MS = 500
/** Nothing is claimed while this many results are not yet written. */
const MAX_UNWRITTEN = 4_096

interface Options {
  /** The longest pause between polls. */
  pollMs: number
  limits?: Partial<Limits>
}

/** Times are those of the scheduler's clock. */
export interface Poll {
  due: readonly DueSubscription[]
  /** There may be more, which only the next poll sees. */
  more: boolean
  startedAt: number
  endedAt: number
  /** How long nothing becomes due that is not reported; undefined if that is unknown. */
  restMs?: number | undefined
}

export type Scheduler = ReturnType<typeof createScheduler>

/**
 * Decides when to poll, when to claim, and how many deliveries of each subscription. Pure: it has no timers, no clock and no
 * database. `at` is the current time in ms, of a clock that only goes forward.
 */
export function createScheduler({ pollMs, limits }: Options) {
  const limiter = createConcurrencyLimiter(limits)
  const cadence = createPollCadence(pollMs)
  const due = createDueSubscriptions()
  let claimAt = Number.POSITIVE_INFINITY

  const claimBy = (at: number) => {
    claimAt = Math.min(claimAt, at)
  }

  function* eligible(at: number) {
    for (const subscription of due.inTurn(MAX_CONSIDERED)) {
      if (limiter.isEligible(subscription.id, at)) yield subscription
      else due.remove(subscription.id)
    }
  }

  return {
    nextPollAt: cadence.nextAt,

    nextTurnAt: () => Math.min(claimAt, cadence.nextAt()),

    wake: cadence.wake,

    polled(poll: Poll) {
      const { endedAt } = poll
      for (const subscription of poll.due) {
        const { id } = subscription
        if (subscription.retried) limiter.endBackoff(id, endedAt)
        if (!due.has(id) && limiter.isEligible(id, endedAt)) due.add(subscription, endedAt)
      }
      cadence.polled(poll)
    },

    /** The database is unavailable: polls again in `pollMs`. */
    failed(at: number) {
      due.clear()
      claimAt = Number.POSITIVE_INFINITY
      cadence.failed(at)
    },

    /** How many deliveries to claim, by subscription; `unwritten` counts results still to be written. */
    allocate(at: number, unwritten: number): Map<string, number> {
      claimAt = Number.POSITIVE_INFINITY
      if (unwritten > MAX_UNWRITTEN) return new Map()
      const allocation = limiter.allocate(eligible(at), MAX_CLAIMED, at)
      if (allocation.size === 0 && due.size() > MAX_CONSIDERED) claimBy(at + CLAIM_INTERVAL_MS)
      return allocation
    },

    /**
     * Reports the deliveries that a claim for `allocation` returned. Their subscriptions may have more, and move behind others.
     */
    claimed(at: number, allocation: ReadonlyMap<string, number>, deliveries: readonly { subscription: string }[]) {
      if (deliveries.length > 0) cadence.claimed()
      const served = new Set(deliveries.map(({ subscription }) => subscription))
      for (const id of allocation.keys()) {
        const seenAt = due.moveBack(id, served.has(id) ? at : undefined)
        if (at - seenAt >= STAYS_DUE_MS) due.remove(id)
      }
      claimBy(deliveries.length < MAX_CLAIMED ? at + CLAIM_INTERVAL_MS : at)
    },

    /** An attempt starts; its slot is to be given back with `finished`. */
    started: (delivery: Startable, at: number): Slot => limiter.started(delivery, at),

    finished(slot: Slot, delivered: boolean, at: number) {
      limiter.finished(slot, delivered, at)
      if (due.size() > 0) claimBy(at + CLAIM_INTERVAL_MS)
    },
  }
}
