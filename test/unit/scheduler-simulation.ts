import type { Limits } from '../../server/webhooks/concurrency-limiter.ts'
import { createScheduler } from '../../server/webhooks/scheduler.ts'

/** How a subscription's receiver behaves: how long each attempt takes, and whether it is delivered. */
interface Receiver {
  ms: number
  delivers: boolean
  /** The app of the subscription; by default one of its own. */
  app?: string
  /** The body of its deliveries. */
  body?: string
}

interface Event {
  at: number
  run: () => void
}

/** A subscription in the simulation, and what has happened to it so far. */
interface Simulated extends Required<Receiver> {
  id: string
  /** When each pending delivery was published. */
  pending: number[]
  delivered: number
  inFlight: number
  maxInFlight: number
  /** When each attempt started. */
  attemptedAt: number[]
  /** From publication to the start of the attempt. */
  waits: number[]
  /** Time in flight, summed over attempts. */
  heldMs: number
}

const QUERY_MS = 1

/** Runs a scheduler as a worker does, in virtual time, with a queue in memory. A failed delivery is due again at once. */
export function createSimulation({ limits, pollMs = 1_000 }: { limits?: Partial<Limits>; pollMs?: number } = {}) {
  const scheduler = createScheduler({ pollMs, ...(limits && { limits }) })
  const subscriptions = new Map<string, Simulated>()
  const events: Event[] = []
  let now = 0
  let polls = 0

  /** Keeps the events in order of time. */
  function at(time: number, run: () => void) {
    let [low, high] = [0, events.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (events[middle]!.at <= time) low = middle + 1
      else high = middle
    }
    events.splice(low, 0, { at: time, run })
  }

  function attempt(subscription: string) {
    const it = subscriptions.get(subscription)!
    const publishedAt = it.pending.shift()!
    const slot = scheduler.started({ subscription, app: it.app, body: it.body }, now)
    it.attemptedAt.push(now)
    it.waits.push(now - publishedAt)
    it.maxInFlight = Math.max(it.maxInFlight, ++it.inFlight)
    at(now + it.ms, () => {
      it.inFlight--
      it.heldMs += it.ms
      if (it.delivers) it.delivered++
      else it.pending.unshift(publishedAt)
      scheduler.finished(slot, it.delivers, now)
    })
  }

  function takeTurn() {
    if (now >= scheduler.nextPollAt()) {
      // A loop, as the simulations spend a third of their time here.
      const due: Simulated[] = []
      for (const it of subscriptions.values()) if (it.pending.length > 0) due.push(it)
      const startedAt = now
      now += QUERY_MS
      polls++
      scheduler.polled({ due, more: false, startedAt, endedAt: now })
    }
    const allocation = scheduler.allocate(now, 0)
    if (allocation.size === 0) return
    const claimed = [...allocation].flatMap(([subscription, count]) => {
      const { pending } = subscriptions.get(subscription)!
      return Array.from({ length: Math.min(count, pending.length) }, () => ({ subscription }))
    })
    scheduler.claimed(now, allocation, claimed)
    for (const { subscription } of claimed) attempt(subscription)
  }

  return {
    polls: () => polls,
    subscribe(id: string, { ms, delivers, app = id, body = '{}' }: Receiver): Simulated {
      const created = { id, ms, delivers, app, body, delivered: 0, inFlight: 0, maxInFlight: 0, heldMs: 0 }
      const lists = { pending: [] as number[], attemptedAt: [] as number[], waits: [] as number[] }
      subscriptions.set(id, { ...created, ...lists })
      return subscriptions.get(id)!
    },
    publish(id: string, count = 1) {
      for (let i = 0; i < count; i++) subscriptions.get(id)!.pending.push(now)
      scheduler.wake(now)
    },
    at,
    /** Lets `ms` pass. */
    run(ms: number) {
      const end = now + ms
      for (;;) {
        const turnAt = Math.max(now, scheduler.nextTurnAt())
        const [event] = events
        if (Math.min(turnAt, event?.at ?? turnAt) > end) break
        if (event && event.at <= turnAt) {
          events.shift()
          now = Math.max(now, event.at)
          event.run()
        } else {
          now = turnAt
          takeTurn()
        }
      }
      now = Math.max(now, end)
    },
  }
}
