import type { Database } from '../../prisma/client.ts'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import type { Field } from '../../prisma/pg/execute.ts'
import { DAY_SECONDS } from '../../routers/time.ts'

/** How long an event is kept after it was published; longer while something is still to be delivered. */
const KEPT_DAYS = 30

/** No statement looks at more events, or removes more deliveries, so that none takes long. */
const EVENTS = 500
const DELIVERIES = 5_000

const statements = {
  old: {
    name: 'events_old',
    text: `SELECT "appId", id, "publishedAt",
        EXISTS (SELECT FROM "Delivery" WHERE "appId" = event."appId" AND "eventId" = event.id AND state = 'pending')
      FROM "PublishedEvent" event
      WHERE "publishedAt" <= $1::timestamptz AND ("publishedAt", "appId", id) > ($2::timestamptz, $3, $4)
      ORDER BY "publishedAt", "appId", id LIMIT ${EVENTS}`,
  },
  /** An event may have more deliveries than can be removed at once. */
  removeDeliveries: {
    name: 'events_remove_deliveries',
    text: `DELETE FROM "Delivery" WHERE id IN
        (SELECT "Delivery".id FROM unnest($1::text[], $2::text[]) AS event (app, id)
         JOIN "Delivery" ON "appId" = event.app AND "eventId" = event.id AND state <> 'pending' LIMIT ${DELIVERIES})
      RETURNING 1`,
  },
  remove: {
    name: 'events_remove',
    text: `DELETE FROM "PublishedEvent" event USING unnest($1::text[], $2::text[]) AS old (app, id)
      WHERE event."appId" = old.app AND event.id = old.id
        AND NOT EXISTS (SELECT FROM "Delivery" WHERE "appId" = old.app AND "eventId" = old.id)
      RETURNING 1`,
  },
}

/** Removes events of over 30 days ago and their deliveries, unless one of these is pending; says how many events. */
export async function forgetOld(db: Database, now: number): Promise<number> {
  const until = new Date(now - KEPT_DAYS * DAY_SECONDS * 1000).toISOString()
  let after: Field[] = ['-infinity', '', '']
  for (let removed = 0; ; ) {
    const events = await db.execute(statements.old, [until, ...after])
    const over = events.filter(([, , , pending]) => pending === 'f')
    removed += await remove(db, over)
    if (events.length < EVENTS) return removed
    const [app, id, publishedAt] = events.at(-1)!
    after = [publishedAt!, app!, id!]
  }
}

async function remove(db: Database, events: readonly Field[][]): Promise<number> {
  const named = [arrayOf(events.map(([app]) => app!)), arrayOf(events.map(([, id]) => id!))]
  while ((await db.execute(statements.removeDeliveries, named)).length === DELIVERIES) {}
  return (await db.execute(statements.remove, named)).length
}
