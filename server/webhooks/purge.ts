import type { Database } from '../../prisma/client.ts'
import { removal } from '../../prisma/pg/removal.ts'
import { bool, instant, int, statement, text, texts, timestamp } from '../../prisma/pg/statement.ts'
import { PORTION } from '../../routers/kernel/housekeeping.ts'
import { DAY_MS } from '../../routers/kernel/time.ts'

/**
 * Events that one statement reads, and deliveries of each: an event with more is handled separately, so that no statement takes
 * long.
 */
const MAX_EVENTS = 500
const FEW_DELIVERIES = 100

const statements = {
  old: statement(
    'events_old',
    `SELECT event.app, event.id, event."publishedAt", found."isPending", found.count > ${FEW_DELIVERIES} AS "hasMany"
      FROM (SELECT "appId" AS app, id, "publishedAt" FROM "PublishedEvent"
        WHERE "publishedAt" <= $until::timestamptz AND ("publishedAt", "appId", id) > ($afterAt::timestamptz, $afterApp, $afterId)
        ORDER BY "publishedAt", "appId", id LIMIT $limit::int8) event
      CROSS JOIN LATERAL (SELECT count(*), coalesce(bool_or(state = 'pending'), false) AS "isPending"
        FROM (SELECT state FROM "Delivery" WHERE "appId" = event.app AND "eventId" = event.id
          LIMIT ${FEW_DELIVERIES + 1}) delivery) found
      ORDER BY event."publishedAt", event.app, event.id`,
    { until: instant, afterAt: timestamp, afterApp: text, afterId: text, limit: int },
    { app: text, id: text, publishedAt: timestamp, isPending: bool, hasMany: bool },
  ),
  isPending: statement(
    'event_is_pending',
    `SELECT EXISTS (SELECT FROM "Delivery" WHERE "appId" = $app AND "eventId" = $id AND state = 'pending') AS "isPending"`,
    { app: text, id: text },
    { isPending: bool },
  ),
  /**
   * Removes some of them: an event may have more deliveries than one statement should remove. By their place, as `removal` does;
   * LATERAL, as a join would read the whole table. One that is pending again stays, unless its event is `abandoned`.
   */
  removeDeliveries: statement(
    'events_remove_deliveries',
    `WITH gone AS (DELETE FROM "Delivery" WHERE ctid = ANY (ARRAY(
        SELECT finished.place FROM unnest($apps::text[], $ids::text[]) AS event (app, id)
        CROSS JOIN LATERAL (SELECT "Delivery".ctid AS place FROM "Delivery" WHERE "appId" = event.app
          AND "eventId" = event.id AND (state <> 'pending' OR EXISTS (SELECT FROM "PublishedEvent"
            WHERE "appId" = event.app AND id = event.id AND "publishedAt" <= $abandoned::timestamptz)) LIMIT $limit::int8 FOR UPDATE SKIP LOCKED) finished LIMIT $limit::int8))
        RETURNING 1)
      SELECT count(*) AS removed FROM gone`,
    { apps: texts, ids: texts, limit: int, abandoned: instant },
    { removed: int },
  ),
  /** A feed notes the gap. Events that nobody has read in it count as the last ones: no cursor from before is valid then. */
  remove: statement(
    'events_remove',
    `WITH gone AS (DELETE FROM "PublishedEvent" WHERE ctid = ANY (ARRAY(
        SELECT alone.place FROM unnest($apps::text[], $ids::text[]) AS old (app, id)
        CROSS JOIN LATERAL (SELECT event.ctid AS place FROM "PublishedEvent" event WHERE "appId" = old.app AND id = old.id
          AND NOT EXISTS (SELECT FROM "Delivery" WHERE "appId" = old.app AND "eventId" = old.id)
          LIMIT 1 FOR UPDATE SKIP LOCKED) alone)) RETURNING "appId", number),
      gap AS (SELECT "appId" AS app, max(number) AS read, count(*) FILTER (WHERE number IS NULL) AS unread FROM gone GROUP BY 1),
      noted AS (UPDATE "EventFeed" SET "last" = "last" + unread,
          horizon = CASE WHEN unread > 0 THEN "last" + unread ELSE greatest(horizon, read) END
        FROM gap WHERE "appId" = app)
      SELECT count(*) AS removed FROM gone`,
    { apps: texts, ids: texts },
    { removed: int },
  ),
}

interface EventKey {
  app: string
  id: string
}

interface Place extends EventKey {
  publishedAt: string
}

/** Up to where the sweep of `now` has removed what is over: pending events, which stay, are not read again in each portion. */
const passes = new WeakMap<Database, { now: number; after: Place }>()
const START: Place = { publishedAt: '-infinity', app: '', id: '' }

/**
 * Removes events published `keepDays` ago with their deliveries; twice as long ago if one of these is pending, as a receiver that
 * fails for months gets one attempt a minute. Removes at most `limit` rows of both, and returns their number.
 */
export async function purgeEvents(
  db: Database,
  now: number,
  { keepDays, limit = PORTION }: { keepDays: number; limit?: number },
): Promise<number> {
  const until = now - keepDays * DAY_MS
  const abandoned = until - keepDays * DAY_MS
  const page = Math.min(limit, MAX_EVENTS)
  const known = passes.get(db)
  let after = known?.now === now ? known.after : START
  for (let removed = 0; ; ) {
    const events = await db.execute(statements.old, {
      until,
      afterAt: after.publishedAt,
      afterApp: after.app,
      afterId: after.id,
      limit: page,
    })
    const over: EventKey[] = []
    for (const { isPending, hasMany, ...event } of events) {
      const isAbandoned = Date.parse(event.publishedAt) <= abandoned
      if (isAbandoned || !(isPending || (hasMany && (await hasPending(db, event))))) over.push(event)
    }
    removed += await remove(db, over, { limit: limit - removed, abandoned })
    // At the end, the next portion begins again, as others may have locked some.
    if (events.length < page && removed < limit) passes.delete(db)
    else passes.set(db, { now, after })
    if (removed >= limit || events.length < page) return removed
    after = events.at(-1)!
  }
}

const hasPending = async (db: Database, { app, id }: EventKey) =>
  (await db.execute(statements.isPending, { app, id }))[0]!.isPending

async function remove(
  db: Database,
  events: readonly EventKey[],
  { limit, abandoned }: { limit: number; abandoned: number },
): Promise<number> {
  if (events.length === 0) return 0
  const toKeyArrays = (some: readonly EventKey[]) => ({
    apps: some.map(({ app }) => app),
    ids: some.map(({ id }) => id),
  })
  const [deliveries] = await db.execute(statements.removeDeliveries, { ...toKeyArrays(events), limit, abandoned })
  const rest = limit - deliveries!.removed
  if (rest === 0) return limit
  const [alone] = await db.execute(statements.remove, toKeyArrays(events.slice(0, rest)))
  return deliveries!.removed + alone!.removed
}

const removeEnded = removal({
  name: 'subscriptions_remove_ended',
  table: '"Subscription"',
  time: '"endedAt"',
  condition: 'NOT address AND NOT EXISTS (SELECT FROM "Delivery" WHERE "subscriptionId" = "Subscription".id)',
})

/**
 * Removes subscriptions, not addresses, that ended `keepDays` ago, at most `limit`, and returns their number. A subscription stays
 * until its last delivery is gone, which is removed with its event.
 */
export async function removeEndedSubscriptions(
  db: Database,
  now: number,
  { keepDays, limit = PORTION }: { keepDays: number; limit?: number },
): Promise<number> {
  return removeEnded(db, now - keepDays * DAY_MS, limit)
}
