import type { Database } from '../../prisma/client.ts'
import type { Column } from '../../prisma/pg/statement.ts'
import {
  bool,
  bools,
  instant,
  int,
  ints,
  jsonStrings,
  nullable,
  statement,
  text,
  texts,
} from '../../prisma/pg/statement.ts'
import { unixMs } from '../../routers/kernel/time.ts'
import { AT_ONCE, AT_ONCE_CLAIMED } from '../../routers/webhooks/deliveries/retry.ts'
import { changesDue, nextChange } from '../../routers/webhooks/member-events/publish.ts'
import type { DueSubscription } from './due-subscriptions.ts'

export interface Claimed {
  id: string
  /** Identifies the worker and its claim. A result is written only while the delivery still has this lease. */
  lease: string
  app: string
  event: string
  subscription: string
  /** Previous attempts whose results were written. */
  attempts: number
  /** Whether it was to be attempted at once. */
  retried: boolean
  url: string | null
  /** Encrypted, as `formerSecret`. */
  secret: string | null
  formerSecret: string | null
  formerUntil: Date | null
  body: string
}

interface ClaimOptions {
  /** Unix time in milliseconds. */
  now: number
  /** Unique per claim. */
  lease: string
  leaseMs: number
  allocation: ReadonlyMap<string, number>
}

export interface Found {
  due: DueSubscription[]
  ended: string[]
  /** The next poll's `after`; null when this one reached the end. */
  next: string | null
  /** When the next delivery becomes due, in Unix milliseconds; null if none is known. */
  nextAt: number | null
  /** Whether changes of members are to be published. False where not asked, as `leasedUntil` is null. */
  changed: boolean
  /** When the first lease expires, in Unix milliseconds; null when nothing is being delivered. */
  leasedUntil: number | null
}

/** Rows that one statement changes at most, so that none takes long. */
const MAX_ROWS = 1_000

const milliseconds: Column<Date> = { ...int, parse: (text) => new Date(Number(text)) }

const claimable = `state = 'pending' AND lease IS NULL`

const statements = {
  /**
   * Jumps through the index from subscription to subscription, reading only the earliest delivery of each: the backlog of a dead
   * receiver costs a poll nothing. Subscriptions are looked up one by one (LIMIT): a join would read all of them. `all` asks for all
   * that a worker watches, in one statement, as it asks at rest as well.
   */
  poll: statement(
    'deliveries_poll',
    `WITH RECURSIVE first AS (
        (SELECT "subscriptionId" AS id, "nextAttemptAt" AS at FROM "Delivery"
         WHERE ${claimable} AND "subscriptionId" > $after ORDER BY "subscriptionId", "nextAttemptAt" LIMIT 1)
        UNION ALL
        SELECT following.* FROM first CROSS JOIN LATERAL
          (SELECT "subscriptionId", "nextAttemptAt" FROM "Delivery"
           WHERE ${claimable} AND "subscriptionId" > first.id ORDER BY "subscriptionId", "nextAttemptAt" LIMIT 1) following)
      SELECT coalesce(json_agg(found.id) FILTER (WHERE "isDue"), '[]') AS due,
        coalesce(json_agg("appId") FILTER (WHERE "isDue"), '[]') AS apps,
        coalesce(json_agg(found.id) FILTER (WHERE "isDue" AND at <= ${AT_ONCE_CLAIMED}), '[]') AS retried,
        coalesce(json_agg(found.id) FILTER (WHERE "endedAt" IS NOT NULL), '[]') AS ended,
        CASE WHEN count(*) = $max::int8 THEN max(found.id) END AS next,
        ${unixMs(`least(min(at) FILTER (WHERE NOT "isDue" AND "endedAt" IS NULL), CASE WHEN $all THEN ${nextChange('$now::timestamptz')} END)`)} AS "nextAt",
        $all::bool AND ${changesDue('$now::timestamptz')} AS changed,
        CASE WHEN $all THEN (SELECT ${unixMs('min("leasedUntil")')} FROM "Delivery" WHERE lease IS NOT NULL) END AS "leasedUntil"
      FROM (SELECT * FROM first LIMIT $max::int8) found
        CROSS JOIN LATERAL (SELECT "appId", "endedAt" FROM "Subscription" WHERE id = found.id LIMIT 1) subscription
        CROSS JOIN LATERAL (SELECT at <= $now::timestamptz AND "endedAt" IS NULL AS "isDue") state`,
    { now: instant, after: text, max: int, all: bool },
    // `due` and `apps` are in the same order.
    {
      due: jsonStrings,
      apps: jsonStrings,
      retried: jsonStrings,
      ended: jsonStrings,
      next: nullable(text),
      nextAt: nullable(int),
      changed: bool,
      leasedUntil: nullable(int),
    },
  ),
  /**
   * Skips deliveries that another worker is claiming. One that was to be attempted at once gets another mark, so that a retry during
   * its attempt is known.
   */
  claim: statement(
    'deliveries_claim',
    `WITH allocated AS
        (SELECT "Subscription".id, url, secret, "formerSecret", "formerUntil", slots FROM unnest($subscriptions::text[], $slots::int8[]) AS allocation (id, slots)
         JOIN "Subscription" ON "Subscription".id = allocation.id AND "endedAt" IS NULL),
      taken AS MATERIALIZED
        (SELECT due.id AS delivery, at <= ${AT_ONCE_CLAIMED} AS retried, allocated.* FROM allocated CROSS JOIN LATERAL
          (SELECT id, "nextAttemptAt" AS at FROM "Delivery"
           WHERE ${claimable} AND "subscriptionId" = allocated.id AND "nextAttemptAt" <= $now::timestamptz
           ORDER BY "nextAttemptAt" LIMIT allocated.slots FOR UPDATE SKIP LOCKED) due)
      UPDATE "Delivery" SET lease = $lease, "leasedUntil" = $leasedUntil::timestamptz,
        "nextAttemptAt" = CASE WHEN retried THEN ${AT_ONCE_CLAIMED} ELSE "nextAttemptAt" END FROM taken, "PublishedEvent" event
      WHERE "Delivery".id = taken.delivery AND event."appId" = "Delivery"."appId" AND event.id = "Delivery"."eventId"
      RETURNING taken.delivery AS id, lease, "Delivery"."appId" AS app, "eventId" AS event,
        "subscriptionId" AS subscription, attempts, retried, url, secret, "formerSecret",
        (extract(epoch FROM "formerUntil") * 1000)::int8 AS "formerUntil", body`,
    { subscriptions: texts, slots: ints, now: instant, lease: text, leasedUntil: instant },
    {
      id: text,
      lease: text,
      app: text,
      event: text,
      subscription: text,
      attempts: int,
      retried: bool,
      url: nullable(text),
      secret: nullable(text),
      formerSecret: nullable(text),
      formerUntil: nullable(milliseconds),
      body: text,
    },
  ),
  release: statement(
    'deliveries_release',
    `UPDATE "Delivery" SET lease = NULL, "leasedUntil" = NULL, "nextAttemptAt" = CASE WHEN retried THEN ${AT_ONCE} ELSE "nextAttemptAt" END
      FROM unnest($ids::text[], $leases::text[], $retried::bool[]) AS claimed (id, lease, retried)
      WHERE "Delivery".id = claimed.id AND "Delivery".lease = claimed.lease`,
    { ids: texts, leases: texts, retried: bools },
    {},
  ),
  releaseExpired: statement(
    'deliveries_release_expired',
    `UPDATE "Delivery" SET lease = NULL, "leasedUntil" = NULL WHERE id IN
        (SELECT id FROM "Delivery" WHERE lease IS NOT NULL AND "leasedUntil" <= $now::timestamptz
         ORDER BY "leasedUntil" LIMIT ${MAX_ROWS} FOR UPDATE SKIP LOCKED)
      RETURNING id`,
    { now: instant },
    { id: text },
  ),
}

/**
 * Finds subscriptions with due deliveries among at most `max` subscriptions with pending ones, in id order from `after`; with `all`
 * also leases, and changes of members.
 */
export async function pollDue(
  db: Database,
  { now, after = '', max = 5_000, all = true }: { now: number; after?: string; max?: number; all?: boolean },
): Promise<Found> {
  const [row] = await db.execute(statements.poll, { now, after, max, all })
  const { due, apps, retried, ...rest } = row!
  const isRetried = new Set(retried)
  return { due: due.map((id, n) => ({ id, app: apps[n]!, ...(isRetried.has(id) && { retried: true }) })), ...rest }
}

export async function claim(db: Database, { now, lease, leaseMs, allocation }: ClaimOptions): Promise<Claimed[]> {
  const [subscriptions, slots] = [[...allocation.keys()], [...allocation.values()]]
  return db.execute(statements.claim, { subscriptions, slots, now, lease, leasedUntil: now + leaseMs })
}

/** Gives up leases: the deliveries are due as before, and their current attempts do not count. */
export async function release(
  db: Database,
  claimed: readonly Pick<Claimed, 'id' | 'lease' | 'retried'>[],
): Promise<void> {
  await db.execute(statements.release, {
    ids: claimed.map(({ id }) => id),
    leases: claimed.map(({ lease }) => lease),
    retried: claimed.map(({ retried }) => retried),
  })
}

/** Releases the leases of dead workers; an attempt without a result does not count. Returns their number. */
export async function releaseExpired(db: Database, now: number): Promise<number> {
  for (let released = 0; ; ) {
    const { length } = await db.execute(statements.releaseExpired, { now })
    released += length
    if (length < MAX_ROWS) return released
  }
}
