import { executeIn } from '../../../prisma/pg/execute.ts'
import { int, statement, text } from '../../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../../kernel/database-errors.ts'
import { ENTRIES, portions } from '../../storage/removal.ts'
import { lockStore } from '../../storage/usage.ts'
import type { Caller } from '../access/roles.ts'
import { lockTeamAs } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'

const large = statement(
  'test_club_large_stores',
  `SELECT "appId" AS app, "clubId" AS club FROM "Organisation" club JOIN "StorageUsage" ON "clubId" = club.id
    WHERE "testTeamId" = $team AND (entries IS NULL OR entries > $limit::int8) ORDER BY "appId"`,
  { team: text, limit: int },
  { app: text, club: text },
)

/**
 * Before a reset: empties stores with more than `limit` entries, in portions with a transaction each. A million take 12 s; a call
 * that reaches its deadline has removed some, and the next one goes on. Each call has an entry in the audit log for them.
 */
export async function emptyLargeStores(
  ctx: Pick<Caller, 'core' | 'person'>,
  team: string,
  limit = ENTRIES,
): Promise<void> {
  let isNoted = false
  for (const store of await ctx.core.db.execute(large, { team, limit })) {
    const removeSome = () =>
      auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
        await lockTeamAs(tx, ctx, { team })
        if (!isNoted) await note({ team, action: 'testClub.reset', target: store.club })
        await lockStore(tx, store)
        return (await executeIn(tx, portions.entries, { ...store, limit }))[0]!.removed
      })
    let removed: number
    do {
      removed = await retryingDeadlocks(removeSome)
      isNoted = true
    } while (removed === limit)
  }
}
