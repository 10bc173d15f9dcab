import type { Database } from '../../prisma/client.ts'
import { bool, instant, int, statement, text } from '../../prisma/pg/statement.ts'
import { isPublished, selectVisible } from '../kernel/event-visibility.ts'
import { DAY_MS, DAY_SECONDS, unix } from '../kernel/time.ts'
import type { Feed } from './feeds.ts'

const YEAR_SECONDS = 366 * DAY_SECONDS
const CANCELLED_MS = 30 * DAY_MS
/** Those nearest to now. With texts of these lengths, a feed has 1 MB, and 7 of characters that need four bytes. */
const MAX_EVENTS = 2_000
const MAX_TITLE = 300
const MAX_LOCATION = 500

export type CalendarEvent = Awaited<ReturnType<typeof readCalendar>>[number]

const nearest = statement(
  'calendar_events',
  `SELECT * FROM (${selectVisible(
    `event.id, left(title, ${MAX_TITLE}) AS title, ${unix('start')} AS start, ${unix('"end"')} AS "end",
      left(location, ${MAX_LOCATION}) AS location, "allDay", sequence, ${unix('"modifiedAt"')} AS "modifiedAt",
      event.state = 'cancelled' AS cancelled`,
    `(${isPublished} OR event.state = 'cancelled' AND "cancelledAt" > $cancelledAfter)`,
  )}) shown ORDER BY abs(start - $now), id LIMIT ${MAX_EVENTS}`,
  { club: text, member: text, start: int, end: int, now: int, cancelledAfter: instant },
  {
    id: text,
    title: text,
    start: int,
    end: int,
    location: text,
    allDay: bool,
    sequence: int,
    modifiedAt: int,
    cancelled: bool,
  },
)

/** The events of a year back and ahead, by start and id; of those that were cancelled, the ones of the last 30 days. */
export async function readCalendar(db: Database, { member, club }: Feed, ms: number) {
  const now = Math.floor(ms / 1000)
  const range = { start: now - YEAR_SECONDS, end: now + YEAR_SECONDS }
  const events = await db.execute(nearest, { member, club, now, ...range, cancelledAfter: ms - CANCELLED_MS })
  return events.sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1))
}
