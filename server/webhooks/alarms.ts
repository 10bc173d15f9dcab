import type { Database, Transaction } from '../../prisma/client.ts'
import { queueMails } from '../../routers/clients/mails/queue.ts'
import { PORTION } from '../../routers/kernel/housekeeping.ts'
import { DAY_SECONDS } from '../../routers/kernel/time.ts'

const DAY_MS = DAY_SECONDS * 1_000

/** Deliveries of a subscription that are read to see whether one has arrived. */
const NEWEST = 100

interface Alarmed {
  app: string
  name: string
  team: string
  count: number
}

/**
 * Mails the teams whose subscriptions have failed for 24 hours or were ended by their receiver, once for each, and returns the
 * number of those subscriptions. Test events are not counted: who sends one looks at its result.
 */
export const raiseAlarms = (db: Database, now: number, limit = PORTION): Promise<number> =>
  db.$transaction(async (tx) => {
    const since = new Date(now - DAY_MS)
    await recover(tx, since)
    const failing = await failingNow(tx, since, limit)
    const ended = await endedNow(tx, since, limit)
    const at = new Date(now)
    for (const one of failing) await mail(tx, 'webhookFailing', one, at)
    for (const one of ended) await mail(tx, 'webhookEnded', one, at)
    return [...failing, ...ended].reduce((sum, { count }) => sum + count, 0)
  })

const mail = (
  tx: Transaction,
  kind: 'webhookFailing' | 'webhookEnded',
  { app, name, team, count }: Alarmed,
  at: Date,
) => queueMails(tx, { kind, team, to: 'everyone', about: { name, app, count }, at })

const recover = (tx: Transaction, since: Date) => tx.$executeRaw`
  UPDATE "Subscription" subscription SET alarm = NULL WHERE alarm = 'failing' AND EXISTS (
    SELECT FROM (SELECT state, "finishedAt" FROM "Delivery" WHERE "subscriptionId" = subscription.id
      ORDER BY "createdAt" DESC, id LIMIT ${NEWEST}) newest WHERE state = 'delivered' AND "finishedAt" > ${since})`

/**
 * Those with a delivery that was first attempted a day ago and fails since, and with none that arrived meanwhile. Jumps through
 * "Delivery_retried_idx", from subscription to subscription: what arrives at once is not read.
 */
const failingNow = (tx: Transaction, since: Date, limit: number) => tx.$queryRaw<Alarmed[]>`
  WITH RECURSIVE tried AS (
    (SELECT "subscriptionId" AS id FROM "Delivery" WHERE state = 'pending' AND attempts > 0 ORDER BY "subscriptionId" LIMIT 1)
    UNION ALL
    SELECT following.id FROM tried CROSS JOIN LATERAL
      (SELECT "subscriptionId" AS id FROM "Delivery" WHERE state = 'pending' AND attempts > 0 AND "subscriptionId" > tried.id
       ORDER BY "subscriptionId" LIMIT 1) following),
  changed AS (
    UPDATE "Subscription" subscription SET alarm = 'failing'
    WHERE id IN (SELECT own.id FROM tried JOIN "Subscription" own USING (id)
        WHERE alarm IS NULL AND "endedAt" IS NULL AND NOT test
          AND EXISTS (SELECT FROM (SELECT "createdAt" FROM "Delivery" WHERE state = 'pending' AND attempts > 0
            AND "subscriptionId" = own.id ORDER BY "lastAttemptAt" LIMIT ${NEWEST}) first WHERE "createdAt" <= ${since})
          AND NOT EXISTS (SELECT FROM (SELECT state, "finishedAt" FROM "Delivery" WHERE "subscriptionId" = own.id
            ORDER BY "createdAt" DESC, id LIMIT ${NEWEST}) newest WHERE state = 'delivered' AND "finishedAt" > ${since})
        LIMIT ${limit} FOR UPDATE OF own SKIP LOCKED)
    RETURNING "appId")
  SELECT "App".id AS app, name, "teamId" AS team, count(*)::int4 AS count FROM changed JOIN "App" ON "App".id = "appId"
  GROUP BY "App".id`

const endedNow = (tx: Transaction, since: Date, limit: number) => tx.$queryRaw<Alarmed[]>`
  WITH changed AS (
    UPDATE "Subscription" SET alarm = 'ended' WHERE id IN (SELECT id FROM "Subscription"
      WHERE "endedAt" > ${since} AND alarm IS DISTINCT FROM 'ended' AND NOT test LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING "appId")
  SELECT "App".id AS app, name, "teamId" AS team, count(*)::int4 AS count FROM changed JOIN "App" ON "App".id = "appId"
  GROUP BY "App".id`
