import type { Database } from '../../../prisma/client.ts'
import { removal } from '../../../prisma/pg/removal.ts'
import { instant, int, statement } from '../../../prisma/pg/statement.ts'
import { PORTION } from '../../../routers/kernel/housekeeping.ts'
import { GRANT_SECONDS } from '../keys/lifetimes.ts'

/** Later times would not fit: the end of the year 9999. */
const LAST = 253_402_300_799

const statements = {
  /**
   * Nothing outlives the grant under which it was issued: a record without an end gets the end of its content, or a year from its
   * beginning.
   */
  giveEnds: statement(
    'oauth_give_ends',
    `WITH ended AS (UPDATE "OauthRecord" SET "expiresAt" = CASE
          WHEN jsonb_typeof(payload -> 'exp') = 'number'
            THEN to_timestamp(least(greatest((payload -> 'exp')::float8, 0), ${LAST}))
          WHEN jsonb_typeof(payload -> 'iat') = 'number'
            THEN to_timestamp(least(greatest((payload -> 'iat')::float8, 0) + ${GRANT_SECONDS}, ${LAST}))
          ELSE $now::timestamptz END
        WHERE ctid = ANY (ARRAY(SELECT ctid FROM "OauthRecord" WHERE "expiresAt" IS NULL
          LIMIT $limit::int8 FOR UPDATE SKIP LOCKED)) RETURNING 1)
      SELECT count(*) AS ended FROM ended`,
    { now: instant, limit: int },
    { ended: int },
  ),
}

const deleteExpired = removal({ name: 'oauth_delete_expired', table: '"OauthRecord"', time: '"expiresAt"' })

/**
 * Deletes expired records, at most `limit`, and returns their number. Used refresh tokens are preserved until then, as they
 * reveal reuse. Records without an end, from earlier releases, get one first.
 */
export async function deleteExpiredRecords(db: Database, now: number, limit = PORTION): Promise<number> {
  for (let more = true; more; ) {
    const [row] = await db.execute(statements.giveEnds, { now, limit })
    more = row!.ended === limit
  }
  return deleteExpired(db, now, limit)
}
