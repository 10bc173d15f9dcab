import type { Database } from '../../prisma/client.ts'
import { instant, int, statement } from '../../prisma/pg/statement.ts'
import { queueReports } from '../../routers/developer/mails/queue.ts'
import { PORTION } from '../../routers/kernel/housekeeping.ts'

/** A day before `now`. */
const SINCE = `($now::timestamptz - interval '24 hours')`

/** Characters of an address in a mail. Its query is left out, which may have a secret. */
const MAX_ADDRESS = 200

/** Deliveries of a subscription that are read to see whether one has arrived. */
const NEWEST = 100

/**
 * When a pending delivery was first attempted since it was published, or since it was retried after it had failed. Before, nobody
 * knew whether its receiver works: the worker may have been stopped for days. Of more than 50 attempts, the oldest that is stored.
 */
const FIRST_ATTEMPT = `coalesce(CASE WHEN attempts = 1 THEN "lastAttemptAt" ELSE
    (SELECT at FROM "DeliveryAttempt" WHERE "deliveryId" = "Delivery".id AND number >
      (SELECT max(number) FROM "DeliveryAttempt" WHERE "deliveryId" = "Delivery".id) - attempts ORDER BY number LIMIT 1) END, "createdAt")`

/**
 * The end of a statement whose rows of `changed` are subscriptions: mails their team, once for an app, with the addresses among
 * them.
 */
const mailing = (mailType: 'webhookFailing' | 'webhookEnded') => `
  alarmed AS (
    SELECT '${mailType}'::"MailKind" AS kind, "teamId" AS team,
      jsonb_strip_nulls(jsonb_build_object('app', "App".id, 'name', name, 'count', count(*),
        'addresses', jsonb_agg(left(split_part(url, '?', 1), ${MAX_ADDRESS}) ORDER BY url) FILTER (WHERE address))) AS about
    FROM changed JOIN "App" ON "App".id = "appId" GROUP BY "App".id),
  queued AS (${queueReports('alarmed', '$now::timestamptz')})
  SELECT count(*) AS subscriptions FROM changed`

const statements = {
  recover: statement(
    'webhook_alarms_recover',
    `UPDATE "Subscription" subscription SET alarm = NULL WHERE alarm = 'failing' AND EXISTS (
      SELECT FROM (SELECT state, "finishedAt" FROM "Delivery" WHERE "subscriptionId" = subscription.id
        ORDER BY "createdAt" DESC, id LIMIT ${NEWEST}) newest WHERE state = 'delivered' AND "finishedAt" > ${SINCE})`,
    { now: instant },
    {},
  ),
  /**
   * Those with a delivery that was first attempted a day ago and fails since, and with none that arrived meanwhile. Jumps through
   * "Delivery_retried_idx", from subscription to subscription: what arrives at once is not read.
   */
  failing: statement(
    'webhook_alarms_failing',
    `WITH RECURSIVE tried AS (
        (SELECT "subscriptionId" AS id FROM "Delivery" WHERE state = 'pending' AND attempts > 0 ORDER BY "subscriptionId" LIMIT 1)
        UNION ALL
        SELECT following.id FROM tried CROSS JOIN LATERAL
          (SELECT "subscriptionId" AS id FROM "Delivery" WHERE state = 'pending' AND attempts > 0 AND "subscriptionId" > tried.id
           ORDER BY "subscriptionId" LIMIT 1) following),
      changed AS (
        UPDATE "Subscription" subscription SET alarm = 'failing'
        WHERE id IN (SELECT own.id FROM tried JOIN "Subscription" own USING (id)
            WHERE alarm IS NULL AND "endedAt" IS NULL AND NOT test
              AND EXISTS (SELECT FROM (SELECT ${FIRST_ATTEMPT} AS at FROM "Delivery" WHERE state = 'pending' AND attempts > 0
                AND "subscriptionId" = own.id ORDER BY "lastAttemptAt" LIMIT ${NEWEST}) first WHERE at <= ${SINCE})
              AND NOT EXISTS (SELECT FROM (SELECT state, "finishedAt" FROM "Delivery" WHERE "subscriptionId" = own.id
                ORDER BY "createdAt" DESC, id LIMIT ${NEWEST}) newest WHERE state = 'delivered' AND "finishedAt" > ${SINCE})
            LIMIT $limit::int8 FOR UPDATE OF own SKIP LOCKED)
        RETURNING "appId", url, address),
      ${mailing('webhookFailing')}`,
    { now: instant, limit: int },
    { subscriptions: int },
  ),
  ended: statement(
    'webhook_alarms_ended',
    `WITH changed AS (
        UPDATE "Subscription" SET alarm = 'ended' WHERE id IN (SELECT id FROM "Subscription"
          WHERE "endedAt" > ${SINCE} AND alarm IS DISTINCT FROM 'ended' AND NOT test
          LIMIT $limit::int8 FOR UPDATE SKIP LOCKED)
        RETURNING "appId", url, address),
      ${mailing('webhookEnded')}`,
    { now: instant, limit: int },
    { subscriptions: int },
  ),
}

/**
 * Mails the teams whose subscriptions have failed for 24 hours or were ended by their receiver, once for each, and returns the
 * number of those subscriptions. Test events are not counted: who sends one looks at its result.
 */
export async function raiseAlarms(db: Database, now: number, limit = PORTION): Promise<number> {
  await db.execute(statements.recover, { now })
  const [failing] = await db.execute(statements.failing, { now, limit })
  const [ended] = await db.execute(statements.ended, { now, limit })
  return failing!.subscriptions + ended!.subscriptions
}
