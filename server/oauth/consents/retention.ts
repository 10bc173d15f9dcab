import type { Database } from '../../../prisma/client.ts'
import { removal } from '../../../prisma/pg/removal.ts'
import { REPLAY_MS } from '../../../routers/developer/activity/replays.ts'
import { CONSENT_MS } from '../../../routers/kernel/access.ts'
import { PORTION } from '../../../routers/kernel/housekeeping.ts'
import { DAY_MS } from '../../../routers/kernel/time.ts'

/** Each has an index with its first condition. */
const remove = {
  withdrawn: removal({
    name: 'consents_remove_withdrawn',
    table: '"Consent"',
    time: '"withdrawnAt"',
    condition: '"withdrawnAt" IS NOT NULL AND "replayedAt" IS NULL',
  }),
  replayed: removal({
    name: 'consents_remove_replayed',
    table: '"Consent"',
    time: '"replayedAt"',
    condition: '"replayedAt" IS NOT NULL',
  }),
  outlived: removal({
    name: 'consents_remove_outlived',
    table: '"Consent"',
    time: '"createdAt"',
    condition: '"withdrawnAt" IS NULL',
  }),
}

/**
 * Removes consents that were withdrawn, or whose year ended, `keepDays` ago; at most `limit`, and returns their number. Those that
 * a replay has ended stay for the 30 days of its notice at least. A token without its consent is refused like one whose consent
 * was withdrawn.
 */
export async function removeOldConsents(
  db: Database,
  now: number,
  { keepDays, limit = PORTION }: { keepDays: number; limit?: number },
): Promise<number> {
  const ended = now - keepDays * DAY_MS
  const withdrawn = await remove.withdrawn(db, ended, limit)
  const replayed = await remove.replayed(db, Math.min(ended, now - REPLAY_MS), limit - withdrawn)
  const removed = withdrawn + replayed
  return removed + (await remove.outlived(db, ended - CONSENT_MS, limit - removed))
}
