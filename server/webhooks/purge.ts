import type { Database } from '../../prisma/client.ts'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import { bool, int, statement, text, timestamp } from '../../prisma/pg/statement.ts'
import { DAY_SECONDS } from '../../routers/time.ts'

/** How long an event is kept after its publication; longer while a delivery is pending. */
const RETENTION_DAYS = 30

/** Events that one statement reads, and deliveries that one removes, so that none takes long. */
const MAX_EVENTS = 500
const MAX_DELIVERIES = 5_000

const statements = {
  old: statement(
    'events_old',
    `SELECT "appId" AS app, id, "publishedAt",
        EXISTS (SELECT FROM "Delivery" WHERE "appId" = event."appId" AND "eventId" = event.id AND state = 'pending')
          AS "isPending"
      FROM "PublishedEvent" event
      WHERE "publishedAt" <= $1::timestamptz AND ("publishedAt", "appId", id) > ($2::timestamptz, $3, $4)
      ORDER BY "publishedAt", "appId", id LIMIT ${MAX_EVENTS}`,
    { app: text, id: text, publishedAt: timestamp, isPending: bool },
  ),
  /** Removes a part of them: an event may have more deliveries than one statement should remove. */
  removeDeliveries: statement(
    'events_remove_deliveries',
    `DELETE FROM "Delivery" WHERE id IN
        (SELECT "Delivery".id FROM unnest($1::text[], $2::text[]) AS event (app, id)
         JOIN "Delivery" ON "appId" = event.app AND "eventId" = event.id AND state <> 'pending' LIMIT ${MAX_DELIVERIES})
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

/** Removes events over 30 days old and their deliveries, unless one is pending. Returns how many events it removed. */
export async function purgeEvents(db: Database, now: number): Promise<number> {
  const until = new Date(now - RETENTION_DAYS * DAY_SECONDS * 1000).toISOString()
  let after: EventKey & { publishedAt: string } = { publishedAt: '-infinity', app: '', id: '' }
  for (let removed = 0; ; ) {
    const events = await db.execute(statements.old, [until, after.publishedAt, after.app, after.id])
    removed += await remove(
      db,
      events.filter(({ isPending }) => !isPending),
    )
    if (events.length < MAX_EVENTS) return removed
    after = events.at(-1)!
  }
}

async function remove(db: Database, events: readonly EventKey[]): Promise<number> {
  const keys = [arrayOf(events.map(({ app }) => app)), arrayOf(events.map(({ id }) => id))]
  while ((await db.execute(statements.removeDeliveries, keys)).length === MAX_DELIVERIES) {}
  return (await db.execute(statements.remove, keys)).length
}
