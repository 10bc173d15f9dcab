import type { Database } from '../../prisma/client.ts'
import { int, statement } from '../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../../routers/access.ts'
import { PORTION } from '../../routers/housekeeping.ts'
import { DAY_SECONDS } from '../../routers/time.ts'

/** For each an index with the same condition. */
const removal = (name: string, condition: string, end: string) =>
  statement(
    name,
    `WITH old AS MATERIALIZED (SELECT id FROM "Consent" WHERE ${condition} AND ${end} <= $1::timestamptz
        ORDER BY ${end} LIMIT $2::int8 FOR UPDATE SKIP LOCKED),
      gone AS (DELETE FROM "Consent" consent USING old WHERE consent.id = old.id RETURNING 1)
      SELECT count(*) AS removed FROM gone`,
    { removed: int },
  )

const statements = {
  withdrawn: removal('consents_remove_withdrawn', '"withdrawnAt" IS NOT NULL', '"withdrawnAt"'),
  outlived: removal('consents_remove_outlived', '"withdrawnAt" IS NULL', '"createdAt"'),
}

/**
 * Removes consents that were withdrawn, or whose year ran out, `keepDays` ago; at most `limit`, and returns their number. A
 * token without its consent is refused as that of a withdrawn one.
 */
export async function removeOldConsents(
  db: Database,
  now: number,
  { keepDays, limit = PORTION }: { keepDays: number; limit?: number },
): Promise<number> {
  const ended = now - keepDays * DAY_SECONDS * 1000
  const [withdrawn] = await db.execute(statements.withdrawn, [new Date(ended).toISOString(), String(limit)])
  const rest = limit - withdrawn!.removed
  const [outlived] = await db.execute(statements.outlived, [new Date(ended - CONSENT_MS).toISOString(), String(rest)])
  return withdrawn!.removed + outlived!.removed
}
