import type { Database } from '../../../prisma/client.ts'
import { removal } from '../../../prisma/pg/removal.ts'
import { PORTION } from '../../kernel/housekeeping.ts'
import { DAY_MS } from '../../kernel/time.ts'

const removeOld = removal({ name: 'member_changes_remove_old', table: '"MemberChange"', time: 'at' })

/** Removes changes that no worker has published for `keepDays`, at most `limit`, and returns their number. */
export async function removeOldMemberChanges(
  db: Database,
  now: number,
  { keepDays, limit = PORTION }: { keepDays: number; limit?: number },
): Promise<number> {
  return removeOld(db, now - keepDays * DAY_MS, limit)
}
