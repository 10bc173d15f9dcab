import { LRUCache } from 'lru-cache'

/** How many deliveries may be under way at once, in a worker. */
const LIMITS = {
  all: 2_048,
  /** To subscriptions that have not received anything yet, or whose last try has failed: the others always find slots. */
  unproven: 1_536,
  /** To those whose last try has failed: new ones find slots as well. */
  failing: 1_024,
  /** To one subscription. */
  most: 32,
  /** New tries of unproven ones in one share: each means a connection, which costs as much as ten deliveries. */
  connections: 8,
  /** Of so many subscriptions it is remembered how they do; one that is forgotten is a new one. */
  remembered: 20_000,
}

/** A failing subscription rests, twice as long each time; and the longer the longer its last try took, in ms. */
const FIRST_REST_MS = 100
const REST_OF_TRY = 4
const MOST_REST_MS = 60_000

type Standing = 'new' | 'proven' | 'failing'

interface Lane {
  standing: Standing
  /** How many it may have under way. */
  room: number
  /** One after the other; what was under way together counts once. */
  failures: number
  failedAt: number
  restsUntil: number
}

/** Slots that are taken, by how the subscription did when it took them. */
type Held = Record<Standing, number>

const unknown: Lane = { standing: 'new', room: 1, failures: 0, failedAt: Number.NEGATIVE_INFINITY, restsUntil: 0 }

export type Lanes = ReturnType<typeof createLanes>

/**
 * Who may have how many deliveries under way. A subscription begins with one; each success doubles its room, a failure
 * takes it back to one. So a receiver that never answers holds one slot, and that for a fifth of the time, however much
 * it has waiting. `now` is in ms.
 */
export function createLanes(now: () => number, limits: Partial<typeof LIMITS> = {}) {
  const { all, unproven, failing, most, connections, remembered } = { ...LIMITS, ...limits }
  const lanes = new LRUCache<string, Lane>({ max: remembered })
  const laneOf = (id: string) => lanes.get(id) ?? unknown
  const underWay = new Map<string, number>()
  const held: Held = { new: 0, proven: 0, failing: 0 }

  const free = (standing: Standing, { new: ofNew, proven, failing: ofFailing }: Held) =>
    Math.min(
      all - ofNew - proven - ofFailing,
      standing === 'proven' ? all : unproven - ofNew - ofFailing,
      standing === 'failing' ? failing - ofFailing : all,
    )

  /** A clock that was set back does not make it longer. */
  const rests = ({ restsUntil }: Lane, at: number) => restsUntil > at && restsUntil <= at + MOST_REST_MS

  function failed(lane: Lane, begunAt: number): Lane {
    const at = now()
    const failures = begunAt < lane.failedAt ? lane.failures : lane.failures + 1
    const rest = Math.max(FIRST_REST_MS * 2 ** (failures - 1), REST_OF_TRY * (at - begunAt))
    return { standing: 'failing', room: 1, failures, failedAt: at, restsUntil: at + Math.min(rest, MOST_REST_MS) }
  }

  return {
    /** Whether it is worth to ask for this one soon: it does well, or could have something at once. */
    isOpen(id: string): boolean {
      const lane = laneOf(id)
      return lane.standing === 'proven' || (!rests(lane, now()) && !underWay.has(id))
    },

    /** How many are under way. */
    count: () => held.new + held.proven + held.failing,

    /** How many more each may have, of those that may have any, in the order given; together at most `limit`. */
    share(subscriptions: Iterable<string>, limit: number): Map<string, number> {
      const shares = new Map<string, number>()
      const taken = { ...held }
      const at = now()
      // Scarce slots are not for the busiest alone: each may have a part of what is free, and leaves the rest.
      const part = Math.ceil(free('proven', held) / 16)
      let left = limit
      let fresh = connections
      for (const id of subscriptions) {
        if (left <= 0) break
        const lane = laneOf(id)
        const { standing } = lane
        const share = Math.min(lane.room - (underWay.get(id) ?? 0), part, left, free(standing, taken))
        if (share <= 0 || rests(lane, at)) continue
        if (standing !== 'proven' && fresh-- <= 0) continue
        shares.set(id, share)
        taken[standing] += share
        left -= share
      }
      return shares
    },

    /** Takes a slot. What it gives has to be called once, with what came of it. */
    begin(id: string): (delivered: boolean) => void {
      const { standing } = laneOf(id)
      const begunAt = now()
      held[standing]++
      underWay.set(id, (underWay.get(id) ?? 0) + 1)
      return (delivered) => {
        held[standing]--
        const left = underWay.get(id)! - 1
        if (left > 0) underWay.set(id, left)
        else underWay.delete(id)
        const lane = laneOf(id)
        const room = Math.min(most, lane.room * 2)
        lanes.set(id, delivered ? { ...unknown, standing: 'proven', room } : failed(lane, begunAt))
      }
    },
  }
}
