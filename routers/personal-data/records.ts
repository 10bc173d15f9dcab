import type { Database } from '../../prisma/client.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import type { Mentioned } from './mentions.ts'

/** Records per statement: these are read within the statement timeout of 5 s. */
const BATCH = 5_000

/**
 * $3 the person, $4 their address. A parameter names them as a whole, or contains the address: at worst another open page ends,
 * whose member begins again.
 */
const sql = `WITH batch AS MATERIALIZED (
    SELECT model, id, payload FROM "OauthRecord" WHERE (model, id) > ($1, $2) ORDER BY model, id LIMIT ${BATCH}
  ), removed AS (
    DELETE FROM "OauthRecord" record USING batch WHERE record.model = batch.model AND record.id = batch.id AND (
      batch.model = 'Grant' AND batch.payload ->> 'accountId' = $3
        AND NOT EXISTS (SELECT FROM "Consent" WHERE "Consent".id = batch.id)
      OR EXISTS (SELECT FROM jsonb_each_text(
          CASE WHEN jsonb_typeof(batch.payload -> 'params') = 'object' THEN batch.payload -> 'params' END) AS param
        WHERE param.value = $3 OR strpos(lower(param.value), lower($4::text)) > 0))
  )
  SELECT model, id FROM batch ORDER BY model DESC, id DESC LIMIT 1`

/**
 * Removes what the authorization server has stored about a person beside their consents and sessions: requests of apps and devices
 * whose parameters name them (`login_hint`), also where another person signs in, and grants without a consent.
 */
export async function removeRecords(db: Database, { person, address }: Mentioned): Promise<void> {
  for (let from = ['', '']; ; ) {
    const { rows } = await retryingDeadlocks(() =>
      db.inTransaction((client) => client.query<{ model: string; id: string }>(sql, [...from, person, address])),
    )
    const [last] = rows
    if (!last) return
    from = [last.model, last.id]
  }
}
