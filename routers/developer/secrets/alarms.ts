import type { Database } from '../../../prisma/client.ts'
import { instant, int, statement } from '../../../prisma/pg/statement.ts'
import { PORTION } from '../../kernel/housekeeping.ts'
import { unix } from '../../kernel/time.ts'
import { queueReports } from '../mails/queue.ts'

const DAYS_AHEAD = 14

const raise = statement(
  'secret_alarms',
  `WITH changed AS (
      UPDATE "ClientSecret" SET alarm = CASE WHEN "expiresAt" <= $now::timestamptz THEN 'expired'::"SecretAlarm" ELSE 'expiring' END
      WHERE id IN (SELECT ending.id FROM "ClientSecret" ending JOIN "Client" ON "Client".id = "clientId"
        WHERE "expiresAt" <= $now::timestamptz + interval '${DAYS_AHEAD} days'
          AND (alarm IS NULL OR alarm = 'expiring' AND "expiresAt" <= $now::timestamptz) AND authentication = 'client_secret'
          AND NOT EXISTS (SELECT FROM "ClientSecret" other WHERE other."clientId" = ending."clientId"
            AND (other."expiresAt", other.id) > (ending."expiresAt", ending.id))
        ORDER BY "expiresAt" LIMIT $limit::int8 FOR UPDATE OF ending SKIP LOCKED)
      RETURNING "clientId", "expiresAt", alarm),
    alarmed AS (
      SELECT 'secretExpiring'::"MailKind" AS kind, "teamId" AS team, jsonb_build_object(
        'client', "Client".id, 'name', name, 'expiresAt', ${unix('"expiresAt"')}, 'isExpired', alarm = 'expired') AS about
      FROM changed JOIN "Client" ON "Client".id = "clientId"),
    queued AS (${queueReports('alarmed', '$now::timestamptz')})
  SELECT count(*) AS secrets FROM changed`,
  { now: instant, limit: int },
  { secrets: int },
)

/**
 * Mails the teams of secrets that expire within 14 days, or have expired, once for each of the two, and returns the number of
 * those secrets. A secret that another one outlasts has been replaced.
 */
export async function raiseSecretAlarms(db: Database, now: number, limit = PORTION): Promise<number> {
  const [row] = await db.execute(raise, { now, limit })
  return row!.secrets
}
