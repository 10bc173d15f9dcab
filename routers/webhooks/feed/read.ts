import type { Database } from '../../../prisma/client.ts'
import { bool, int, nullable, statement, text, texts } from '../../../prisma/pg/statement.ts'
import { errors } from '../../kernel/errors.ts'
import type { Reserve } from '../../kernel/read-within.ts'
import { readWithin } from '../../kernel/read-within.ts'
import { unix } from '../../kernel/time.ts'

/** As a JSON string, a body may take twice its bytes. An empty page is one row without an event. */
const page = (name: string, condition: string) =>
  statement(
    name,
    `SELECT "last", horizon, bytes, number, id, type, "createdAt", CASE WHEN bytes <= $maxBytes THEN body END AS body,
        EXISTS (SELECT FROM "PublishedEvent" WHERE "appId" = $app AND number IS NULL) AS "hasMore"
      FROM "EventFeed" LEFT JOIN LATERAL (
        SELECT number, id, type, ${unix('"publishedAt"')} AS "createdAt", body,
          2 * sum(octet_length(body)) OVER () AS bytes
        FROM (SELECT * FROM "PublishedEvent" WHERE "appId" = $app AND number > $after::int8 AND ${condition}
          ORDER BY number LIMIT least($limit::int8, 201)) event
      ) page ON true WHERE "EventFeed"."appId" = $app ORDER BY number`,
    { app: text, after: int, limit: int, maxBytes: int },
    {
      last: int,
      horizon: int,
      bytes: nullable(int),
      number: nullable(int),
      id: nullable(text),
      type: nullable(text),
      createdAt: nullable(int),
      body: nullable(text),
      hasMore: bool,
    },
  )

/** An event is numbered when it is first read, so that one which is committed late comes later instead of being missed. */
const statements = {
  /** One more than the largest page. Without the condition, each look would lock the feed. */
  number: statement(
    'events_number',
    `SELECT event_number($app, 201) AS last WHERE NOT EXISTS (SELECT FROM "EventFeed" WHERE "appId" = $app)
      OR EXISTS (SELECT FROM "PublishedEvent" WHERE "appId" = $app AND number IS NULL)`,
    { app: text },
    { last: int },
  ),
  page: page('events_page', 'true'),
  /** By an index of its own. */
  pageOfTests: page('events_page_of_tests', '"isTest"'),
}

export interface StoredEvent {
  id: string
  type: string
  createdAt: number
  /** The JSON text that every receiver gets. */
  body: string
}

/** How far a reader has come. */
export interface FeedPosition {
  /** That of the last event that has been read. */
  number: number
  /** The feed's horizon when the reader began: what had been removed by then is nothing that the reader misses. */
  horizon: number
}

export interface EventPage {
  events: StoredEvent[]
  /** For the next page. */
  next: FeedPosition
  /** More can be read at once. */
  more: boolean
}

interface Wanted {
  since: FeedPosition | undefined
  limit: number
  /** Events of the test club, and test events, alone. */
  tests?: boolean
}

/**
 * A page of at most `limit` events of an app after `since`; without it, from the oldest one that is stored. Throws 410 when events
 * after `since` are no longer stored, and when `since` is ahead of the feed, as after a restore.
 */
export async function readEvents(
  db: Database,
  app: string,
  { since, limit, tests = false }: Wanted,
  reserve: Reserve,
): Promise<EventPage> {
  await db.execute(statements.number, { app })
  const rows = await readWithin(reserve, (maxBytes) =>
    db.execute(tests ? statements.pageOfTests : statements.page, {
      app,
      after: since?.number ?? 0,
      limit: limit + 1,
      maxBytes,
    }),
  )
  // The app was removed a moment ago.
  if (rows.length === 0) throw errors.appUnknown()
  const { last, horizon, hasMore } = rows[0]!
  const { number: after, horizon: begun } = since ?? { number: 0, horizon }
  // Below the horizon events stay that wait for a dead receiver, or since a restore: more of them than a page has.
  const covered = Math.max(after, begun)
  if (covered < horizon || covered > last) throw errors.cursorExpired()
  const all = rows.filter(isEvent)
  const events = all.slice(0, limit)
  if (all.length > limit) return { events, next: { number: events.at(-1)!.number, horizon: begun }, more: true }
  return { events, next: { number: last, horizon: begun }, more: hasMore }
}

type Row = {
  number: number | null
  id: string | null
  type: string | null
  createdAt: number | null
  body: string | null
}

const isEvent = <R extends Row>(row: R): row is R & StoredEvent & { number: number } => row.number !== null

/** For the watch: events without a number count as one change. */
export const eventNumbers = statement(
  'events_numbers',
  `SELECT at::int4, numbers.last AS changes, numbers.last
    FROM unnest($apps::text[], $clubs::text[], $owners::text[], $collections::text[]) WITH ORDINALITY AS place (app, club, owner, collection, at)
      CROSS JOIN LATERAL (SELECT coalesce((SELECT "last" FROM "EventFeed" WHERE "appId" = app), 0)
        + (SELECT count(*) FROM (SELECT FROM "PublishedEvent" WHERE "appId" = app AND number IS NULL LIMIT 1) one) AS last) numbers`,
  { apps: texts, clubs: texts, owners: texts, collections: texts },
  { at: int, changes: int, last: int },
)
