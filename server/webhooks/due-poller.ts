import type { Database } from '../../prisma/client.ts'
import type { Claimed } from './queue.ts'
import { look, recover } from './queue.ts'
import { failEnded } from './results.ts'

/** Looking takes at most a twentieth of the time, however many subscriptions have something pending. */
const REST = 20
const LEAST_PAUSE_MS = 20

/** Who got something is asked for again for so long, without a look. */
const BUSY_MS = 500

/** So many subscriptions are asked about at once whether there is room for them. */
const MOST_ASKED = 2_000

interface Options {
  db: Database
  now: () => number
  pollMs: number
  /** Those of which this does not hold are left to the next look. */
  isOpen: (subscription: string) => boolean
}

/**
 * Which subscriptions have something due, as far as this worker has seen. It looks again soon while there is something
 * to do, less and less often while there is nothing, and at least each `pollMs`.
 */
export function createSight({ db, now, pollMs, isOpen }: Options) {
  /** When something of theirs was seen; whoever has waited longest for a claim comes first. */
  const due = new Map<string, number>()
  let after = ''
  let found = false
  let woken = false
  let least = LEAST_PAUSE_MS
  let pause = pollMs
  let lookedAt = Number.NEGATIVE_INFINITY
  let recoveredAt = Number.NEGATIVE_INFINITY
  let nextAt = 0

  return {
    /** Whether there are more than `next` gives at once. */
    hasMore: () => due.size > MOST_ASKED,
    isEmpty: () => due.size === 0,
    /** The next ones, in turn: whoever was given stands behind the others. */
    *next() {
      let left = Math.min(due.size, MOST_ASKED)
      for (const [id, seenAt] of due) {
        if (left-- === 0) return
        due.delete(id)
        if (!isOpen(id)) continue
        due.set(id, seenAt)
        yield id
      }
    },
    /** When to look next, on the clock of `performance.now()`. */
    nextAt: () => nextAt,
    /** There is something new. */
    wake() {
      woken = true
      nextAt = Math.min(nextAt, lookedAt + least)
    },
    /** The database is away: what is due is seen when it is back. */
    rest() {
      due.clear()
      nextAt = performance.now() + pollMs
    },

    async look() {
      woken = false
      if (performance.now() - recoveredAt >= pollMs) {
        await recover(db, now())
        recoveredAt = performance.now()
      }
      const start = performance.now()
      const seen = await look(db, { now: now(), after })
      lookedAt = performance.now()
      least = Math.min(pollMs, Math.max(LEAST_PAUSE_MS, REST * (lookedAt - start)))

      for (const id of seen.due) if (!due.has(id) && isOpen(id)) due.set(id, lookedAt)
      after = seen.next ?? ''
      const more = seen.ended.length > 0 && (await failEnded(db, now(), seen.ended))
      pause = found || woken || more || seen.next !== null ? least : Math.min(pollMs, pause * 2)
      nextAt = lookedAt + pause
      found = false
    },

    /** What came of a claim. Who got something may get more soon, and waits behind the others. */
    claimed(shares: ReadonlyMap<string, number>, rows: readonly Claimed[]) {
      found ||= rows.length > 0
      const at = performance.now()
      const got = new Set(rows.map(({ subscription }) => subscription))
      for (const id of shares.keys()) {
        const seenAt = got.has(id) ? at : due.get(id)!
        due.delete(id)
        if (at - seenAt < BUSY_MS) due.set(id, seenAt)
      }
    },
  }
}
