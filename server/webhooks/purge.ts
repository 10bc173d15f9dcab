import type { Database } from '../../prisma/client.ts'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import { bool, int, statement, text, timestamp } from '../../prisma/pg/statement.ts'
import { DAY_SECONDS } from '../../routers/time.ts'

/** How long an event is kept after it was published; longer while something is still to be delivered. */
const KEPT_DAYS = 30

/** No statement looks at more events, or removes more deliveries, so that none takes long. */
const EVENTS = 500
const DELIVERIES = 5_000

const statements = {
  old: statement(
    'events_old',
    `SELECT "appId" AS app, id, "publishedAt",
        EXISTS (SELECT FROM "Delivery" WHERE "appId" = event."appId" AND "eventId" = event.id AND state = 'pending')
          AS "isPending"
      FROM "PublishedEvent" event
      WHERE "publishedAt" <= $1::timestamptz AND ("publishedAt", "appId", id) > ($2::timestamptz, $3, $4)
      ORDER BY "publishedAt", "appId", id LIMIT ${EVENTS}`,
    { app: text, id: text, publishedAt: timestamp, isPending: bool },
  ),
  /** An event may have more deliveries than can be removed at once. */
  removeDeliveries: statement(
    'events_remove_deliveries',
    `DELETE FROM "Delivery" WHERE id IN
        (SELECT "Delivery".id FROM unnest($1::text[], $2::text[]) AS event (app, id)
         JOIN "Delivery" ON "appId" = event.app AND "eventId" = event.id AND state <> 'pending' LIMIT ${DELIVERIES})
      RETURNING 1 AS removed`,
    { removed: int },
  ),
  remove: statement(
    'events_remove',
    `DELETE FROM "PublishedEvent" event USING unnest($1::text[], $2::text[]) AS old (app, id)
      WHERE event."appId" = old.app AND event.id = old.id
        AND NOT EXISTS (SELECT FROM "Delivery" WHERE "appId" = old.app AND "eventId" = old.id)
      RETURNING 1 AS removed`,
    { removed: int },
  ),
}

interface EventKey {
  app: string
  id: string
}

/** Removes events of over 30 days ago and their deliveries, unless one of these is pending; says how many events. */
export async function forgetOld(db: Database, now: number): Promise<number> {
  const until = new Date(now - KEPT_DAYS * DAY_SECONDS * 1000).toISOString()
  let after: EventKey & { publishedAt: string } = { publishedAt: '-infinity', app: '', id: '' }
  for (let removed = 0; ; ) {
    const events = await db.execute(statements.old, [until, after.publishedAt, after.app, after.id])
    removed += await remove(
      db,
      events.filter(({ isPending }) => !isPending),
    )
    if (events.length < EVENTS) return removed
    after = events.at(-1)!
  }
}

async function remove(db: Database, events: readonly EventKey[]): Promise<number> {
  const keys = [arrayOf(events.map(({ app }) => app)), arrayOf(events.map(({ id }) => id))]
  while ((await db.execute(statements.removeDeliveries, keys)).length === DELIVERIES) {}
  return (await db.execute(statements.remove, keys)).length
}
