import type { Database } from '../../prisma/client.ts'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import type { Field } from '../../prisma/pg/execute.ts'

/** A delivery that is leased, with all that a try needs. */
export interface Claimed {
  id: string
  /** Names the worker and the claim: whoever writes an outcome has to hold it still. */
  lease: string
  app: string
  event: string
  subscription: string
  /** Tries so far whose outcome is known. */
  attempts: number
  url: string | null
  /** Sealed. */
  secret: string | null
  body: string
}

/** What a look has found. */
export interface Sight {
  /** Subscriptions that have something due. */
  due: string[]
  /** Subscriptions that have ended, and have something pending all the same. */
  ended: string[]
  /** Where the next look has to go on; null when this one has come to the end. */
  next: string | null
}

/** No single statement changes more rows than this, so that none takes long. */
const MOST_ROWS = 1_000

const claimable = `state = 'pending' AND lease IS NULL`

const statements = {
  /**
   * Goes from subscription to subscription, and sees of each the delivery that is due first: what a dead receiver has
   * waiting costs a look nothing, however much it is.
   */
  look: {
    name: 'deliveries_look',
    text: `WITH RECURSIVE first AS (
        (SELECT "subscriptionId" AS id, "nextAttemptAt" AS at FROM "Delivery"
         WHERE ${claimable} AND "subscriptionId" > $2 ORDER BY "subscriptionId", "nextAttemptAt" LIMIT 1)
        UNION ALL
        SELECT following.* FROM first CROSS JOIN LATERAL
          (SELECT "subscriptionId", "nextAttemptAt" FROM "Delivery"
           WHERE ${claimable} AND "subscriptionId" > first.id ORDER BY "subscriptionId", "nextAttemptAt" LIMIT 1) following)
      SELECT coalesce(json_agg(seen.id) FILTER (WHERE at <= $1::timestamptz AND "endedAt" IS NULL), '[]'),
        coalesce(json_agg(seen.id) FILTER (WHERE "endedAt" IS NOT NULL), '[]'),
        CASE WHEN count(*) = $3::int8 THEN max(seen.id) END
      FROM (SELECT * FROM first LIMIT $3::int8) seen JOIN "Subscription" ON "Subscription".id = seen.id`,
  },
  /** What another worker is taking at this moment is passed over. */
  claim: {
    name: 'deliveries_claim',
    text: `WITH asked AS
        (SELECT "Subscription".id, url, secret, most FROM unnest($1::text[], $2::int8[]) AS asked (id, most)
         JOIN "Subscription" ON "Subscription".id = asked.id AND "endedAt" IS NULL),
      taken AS MATERIALIZED
        (SELECT due.id, asked.url, asked.secret FROM asked CROSS JOIN LATERAL
          (SELECT id FROM "Delivery"
           WHERE ${claimable} AND "subscriptionId" = asked.id AND "nextAttemptAt" <= $3::timestamptz
           ORDER BY "nextAttemptAt" LIMIT asked.most FOR UPDATE SKIP LOCKED) due)
      UPDATE "Delivery" SET lease = $4, "leasedUntil" = $5::timestamptz FROM taken, "PublishedEvent" event
      WHERE "Delivery".id = taken.id AND event."appId" = "Delivery"."appId" AND event.id = "Delivery"."eventId"
      RETURNING taken.id, "Delivery"."appId", "eventId", "subscriptionId", attempts, url, secret, body`,
  },
  release: {
    name: 'deliveries_release',
    text: `UPDATE "Delivery" SET lease = NULL, "leasedUntil" = NULL
      FROM unnest($1::text[], $2::text[]) AS held (id, lease)
      WHERE "Delivery".id = held.id AND "Delivery".lease = held.lease`,
  },
  recover: {
    name: 'deliveries_recover',
    text: `UPDATE "Delivery" SET lease = NULL, "leasedUntil" = NULL WHERE id IN
        (SELECT id FROM "Delivery" WHERE lease IS NOT NULL AND "leasedUntil" <= $1::timestamptz
         ORDER BY "leasedUntil" LIMIT ${MOST_ROWS} FOR UPDATE SKIP LOCKED)
      RETURNING id`,
  },
}

const iso = (ms: number) => new Date(ms).toISOString()

/** Which subscriptions have something due, of at most so many that have anything pending, from `after` on. */
export async function look(
  db: Database,
  { now, after = '', most = 5_000 }: { now: number; after?: string; most?: number },
): Promise<Sight> {
  const [row] = await db.execute(statements.look, [iso(now), after, String(most)])
  const [due, ended, next] = row as [string, string, Field]
  return { due: JSON.parse(due), ended: JSON.parse(ended), next }
}

/**
 * Leases what is due to the subscriptions that are asked for, of each at most its number, oldest first. `lease` has to
 * be unlike any other claim's.
 */
export async function claim(
  db: Database,
  { now, lease, leaseMs, shares }: { now: number; lease: string; leaseMs: number; shares: ReadonlyMap<string, number> },
): Promise<Claimed[]> {
  const asked = [arrayOf([...shares.keys()]), arrayOf([...shares.values()])]
  const rows = await db.execute(statements.claim, [...asked, iso(now), lease, iso(now + leaseMs)])
  return (rows as string[][]).map(([id, app, event, subscription, attempts, url, secret, body]) => ({
    id: id!,
    lease,
    app: app!,
    event: event!,
    subscription: subscription!,
    attempts: Number(attempts),
    url: url!,
    secret: secret!,
    body: body!,
  }))
}

/** Gives back what was not tried, or whose try nobody waits for any more: it is due as before. */
export async function release(db: Database, held: readonly Pick<Claimed, 'id' | 'lease'>[]): Promise<void> {
  const columns = [held.map(({ id }) => id), held.map(({ lease }) => lease)]
  await db.execute(statements.release, columns.map(arrayOf))
}

/** Makes claimable again what was leased by workers that are gone: a try without a known outcome is not counted. */
export async function recover(db: Database, now: number): Promise<number> {
  for (let all = 0; ; ) {
    const { length } = await db.execute(statements.recover, [iso(now)])
    all += length
    if (length < MOST_ROWS) return all
  }
}
