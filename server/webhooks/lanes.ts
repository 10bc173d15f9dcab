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
  /** Of so many subscriptions it is remembered how they do; one that is forgotten is a new one. */
  remembered: 20_000,
}

type Standing = 'new' | 'proven' | 'failing'

interface Lane {
  standing: Standing
  /** How many it may have under way. */
  room: number
}

/** Slots that are taken, by how the subscription did when it took them. */
type Held = Record<Standing, number>

const unknown: Lane = { standing: 'new', room: 1 }

export type Lanes = ReturnType<typeof createLanes>

/**
 * Who may have how many deliveries under way. A subscription begins with one; each success doubles its room, a failure
 * takes it back to one. So a receiver that never answers holds one slot, however much it has waiting.
 */
export function createLanes(limits: Partial<typeof LIMITS> = {}) {
  const { all, unproven, failing, most, remembered } = { ...LIMITS, ...limits }
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

  return {
    /** How many are under way. */
    count: () => held.new + held.proven + held.failing,

    /** How many more each may have, of those that may have any, in the order given; together at most `limit`. */
    share(subscriptions: Iterable<string>, limit: number): Map<string, number> {
      const shares = new Map<string, number>()
      const taken = { ...held }
      // Scarce slots are not for the busiest alone: each may have a part of what is free, and leaves the rest.
      const part = Math.ceil(free('proven', held) / 16)
      let left = limit
      for (const id of subscriptions) {
        if (left <= 0) break
        const { standing, room } = laneOf(id)
        const share = Math.min(room - (underWay.get(id) ?? 0), part, left, free(standing, taken))
        if (share <= 0) continue
        shares.set(id, share)
        taken[standing] += share
        left -= share
      }
      return shares
    },

    /** Takes a slot. What it gives has to be called once, with what came of it; null when nothing was tried. */
    begin(id: string): (delivered: boolean | null) => void {
      const { standing } = laneOf(id)
      held[standing]++
      underWay.set(id, (underWay.get(id) ?? 0) + 1)
      return (delivered) => {
        held[standing]--
        const left = underWay.get(id)! - 1
        if (left > 0) underWay.set(id, left)
        else underWay.delete(id)
        if (delivered === null) return
        const room = delivered ? Math.min(most, laneOf(id).room * 2) : 1
        lanes.set(id, { standing: delivered ? 'proven' : 'failing', room })
      }
    },
  }
}
