import type { Database } from '../../prisma/client.ts'
import { nullable, statement, text } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import type { Mentioned } from './mentions.ts'

/** Records per statement: these are read within the statement timeout of 5 s. */
const BATCH = 5_000

/**
 * A parameter names them as a whole, or contains the address: at worst another open page ends,
 * whose member begins again.
 */
const removeBatch = statement(
  'records_remove_named',
  `WITH batch AS MATERIALIZED (
    SELECT model, id, payload FROM "OauthRecord" WHERE (model, id) > ($model, $id) ORDER BY model, id LIMIT ${BATCH}
  ), removed AS (
    DELETE FROM "OauthRecord" record USING batch WHERE record.model = batch.model AND record.id = batch.id AND (
      batch.model = 'Grant' AND batch.payload ->> 'accountId' = $person
        AND NOT EXISTS (SELECT FROM "Consent" WHERE "Consent".id = batch.id)
      OR EXISTS (SELECT FROM jsonb_each_text(
          CASE WHEN jsonb_typeof(batch.payload -> 'params') = 'object' THEN batch.payload -> 'params' END) AS param
        WHERE param.value = $person OR strpos(lower(param.value), lower($address::text)) > 0))
  )
  SELECT model, id FROM batch ORDER BY model DESC, id DESC LIMIT 1`,
  { model: text, id: text, person: text, address: nullable(text) },
  { model: text, id: text },
)

/**
 * Removes what the authorization server has stored about a person beside their consents and sessions: requests of apps and devices
 * whose parameters name them (`login_hint`), also where another person signs in, and grants without a consent.
 */
export async function removeRecords(db: Database, { person, address }: Mentioned): Promise<void> {
  for (let from = { model: '', id: '' }; ; ) {
    const [last] = await retryingDeadlocks(() => db.execute(removeBatch, { ...from, person, address }))
    if (!last) return
    from = last
  }
}
