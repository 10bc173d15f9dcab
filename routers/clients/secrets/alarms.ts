import type { Database, Transaction } from '../../../prisma/client.ts'
import { PORTION } from '../../kernel/housekeeping.ts'
import { DAY_SECONDS, toUnix } from '../../kernel/time.ts'
import { queueMails } from '../mails/queue.ts'

const DAYS_AHEAD = 14

interface Alarmed {
  client: string
  name: string
  team: string
  expiresAt: Date
  isExpired: boolean
}

/**
 * Mails the teams of secrets that expire within 14 days, or have expired, once for each of the two, and returns the number of
 * those secrets. A secret that another one outlasts has been replaced.
 */
export const raiseSecretAlarms = (db: Database, now: number, limit = PORTION): Promise<number> =>
  db.$transaction(async (tx) => {
    const at = new Date(now)
    const alarmed = await markEnding(tx, at, limit)
    for (const { team, expiresAt, ...about } of alarmed) {
      const of = { ...about, expiresAt: toUnix(expiresAt) }
      await queueMails(tx, { kind: 'secretExpiring', team, to: 'everyone', about: of, at })
    }
    return alarmed.length
  })

const markEnding = (tx: Transaction, at: Date, limit: number) => tx.$queryRaw<Alarmed[]>`
  WITH changed AS (
    UPDATE "ClientSecret" SET alarm = CASE WHEN "expiresAt" <= ${at} THEN 'expired'::"SecretAlarm" ELSE 'expiring' END
    WHERE id IN (SELECT ending.id FROM "ClientSecret" ending JOIN "Client" ON "Client".id = "clientId"
      WHERE "expiresAt" <= ${new Date(at.getTime() + DAYS_AHEAD * DAY_SECONDS * 1_000)}
        AND (alarm IS NULL OR alarm = 'expiring' AND "expiresAt" <= ${at}) AND authentication = 'client_secret'
        AND NOT EXISTS (SELECT FROM "ClientSecret" other WHERE other."clientId" = ending."clientId"
          AND (other."expiresAt", other.id) > (ending."expiresAt", ending.id))
      ORDER BY "expiresAt" LIMIT ${limit} FOR UPDATE OF ending SKIP LOCKED)
    RETURNING "clientId", "expiresAt", alarm)
  SELECT "Client".id AS client, name, "teamId" AS team, "expiresAt", alarm = 'expired' AS "isExpired"
  FROM changed JOIN "Client" ON "Client".id = "clientId"`
