import type { Database } from '../../prisma/client.ts'
import { publishMemberEvents } from '../../routers/webhooks/member-events/publish.ts'
import { pollDue, releaseExpired } from './queue.ts'
import { failEnded } from './results.ts'
import type { Poll } from './scheduler.ts'

interface Options {
  db: Database
  /** Unix time in milliseconds. */
  now: () => number
  clock: () => number
  pollMs: number
}

/**
 * Returns a function that polls the database for due subscriptions, each time from where the previous poll stopped. It also
 * publishes events about members, releases expired leases and fails the pending deliveries of ended subscriptions.
 */
export function createDuePoller({ db, now, clock, pollMs }: Options): () => Promise<Poll> {
  let after = ''
  let releasedAt = Number.NEGATIVE_INFINITY
  let published = 0

  return async () => {
    if (published > 0 || clock() - releasedAt >= pollMs) published = await publishMemberEvents(db, now())
    if (clock() - releasedAt >= pollMs) {
      await releaseExpired(db, now())
      releasedAt = clock()
    }
    const startedAt = clock()
    const { due, ended, next } = await pollDue(db, { now: now(), after })
    const endedAt = clock()
    after = next ?? ''
    const moreEnded = ended.length > 0 && (await failEnded(db, now(), ended))
    return { due, more: next !== null || moreEnded || published > 0, startedAt, endedAt }
  }
}
