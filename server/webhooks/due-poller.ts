import type { Database } from '../../prisma/client.ts'
import { publishMemberEvents } from '../../routers/webhooks/member-events/publish.ts'
import { pollDue, releaseExpired } from './queue.ts'
import { failEnded } from './results.ts'
import type { Poll } from './scheduler.ts'

/** The longest pause between polls while nothing is due, in milliseconds: what SQL or Studio inserts waits as long. */
export const REST_MS = 5_000

interface Options {
  db: Database
  /** Unix time in milliseconds. */
  now: () => number
  /** Milliseconds of a clock that only goes forward. */
  clock: () => number
  /** The pause between polls that also ask for leases and changes of members. */
  pollMs: number
  /** The longest pause while nothing is due and other processes report what becomes due. */
  restMs?: number
  /** Whether other processes report what becomes due. */
  isNotified?: () => boolean
}

/**
 * Returns a function that polls the database for due subscriptions, each time from where the previous poll stopped. It also
 * publishes events about members, releases expired leases and fails the pending deliveries of ended subscriptions.
 */
export function createDuePoller({
  db,
  now,
  clock,
  pollMs,
  restMs: longestMs = REST_MS,
  isNotified = () => false,
}: Options): () => Promise<Poll> {
  let after = ''
  let askedAt = Number.NEGATIVE_INFINITY
  let published = 0

  return async () => {
    const startedAt = clock()
    const all = published > 0 || startedAt - askedAt >= pollMs
    if (all) askedAt = startedAt
    const at = now()
    const fromStart = after === ''
    const { due, ended, next, nextAt, changed, leasedUntil } = await pollDue(db, { now: at, after, all })
    const endedAt = clock()
    after = next ?? ''
    published = changed ? await publishMemberEvents(db, at) : 0
    const released = leasedUntil !== null && leasedUntil <= at ? await releaseExpired(db, at) : 0
    const moreEnded = ended.length > 0 && (await failEnded(db, at, ended))
    const more = next !== null || moreEnded || published > 0 || released > 0
    // An attempt in flight may soon leave a delivery to be retried.
    const rests =
      all && fromStart && due.length + ended.length === 0 && !changed && leasedUntil === null && isNotified()
    const restMs = rests ? Math.min(longestMs, (nextAt ?? Number.POSITIVE_INFINITY) - at) : undefined
    return { due, more, startedAt, endedAt, restMs }
  }
}
