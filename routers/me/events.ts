import { z } from 'zod'
import { int, statement, text } from '../../prisma/pg/statement.ts'
import { endpoint } from '../endpoint.ts'
import { errors, withError } from '../errors.ts'
import { clubMember } from '../policies.ts'
import { DAY_SECONDS, fromUnix } from '../time.ts'

/** The last second of the year 9999. */
const LAST_SECOND = 253_402_300_799
const DEFAULT_RANGE_SECONDS = 90 * DAY_SECONDS

const wrong = withError('timeInvalid')
const unixSeconds = z.int(wrong).min(0, wrong).max(LAST_SECOND, wrong)
const range = z.object({
  start: unixSeconds.optional().meta({ description: 'range start, Unix seconds; default: now' }),
  end: unixSeconds.optional().meta({ description: 'range end, Unix seconds; default: start + 90 days' }),
})

const event = z.object({
  id: z.string(),
  title: z.string(),
  start: z.int(),
  end: z.int(),
  location: z.string(),
})

/** The same date and time one year later, UTC; from 29 February it is 1 March. */
function oneYearAfter(seconds: number) {
  const date = fromUnix(seconds)
  return Math.floor(date.setUTCFullYear(date.getUTCFullYear() + 1) / 1000)
}

/**
 * Events with `start < $4` and `end > $3`, and events without length that start at $3; the index on (club, end) serves the
 * first condition. Groups and calendar are looked up event by event: a join may read those of all clubs.
 */
const visible = statement(
  'me_events',
  `WITH own AS MATERIALIZED
      (SELECT coalesce(array_agg("groupId"), '{}') AS groups FROM "GroupMembership" WHERE "personId" = $2)
    SELECT event.id, title, floor(extract(epoch FROM start))::int8 AS start, floor(extract(epoch FROM "end"))::int8 AS "end", location
    FROM own CROSS JOIN "Event" event
      CROSS JOIN LATERAL (SELECT count(*) AS groups, coalesce(bool_or("groupId" = ANY (own.groups)), false) AS "isOwn"
        FROM "EventGroup" WHERE "eventId" = event.id) audience
    WHERE event."clubId" = $1 AND state = 'published'
      AND "end" >= to_timestamp($3) AND start < to_timestamp($4) AND ("end" > to_timestamp($3) OR start >= to_timestamp($3))
      AND ("calendarId" IS NULL AND audience.groups = 0 OR audience."isOwn"
        OR (SELECT visible FROM "Calendar" WHERE id = "calendarId"))
    ORDER BY event.start, event."end", event.id`,
  { id: text, title: text, start: int, end: int, location: text },
)

/** Rule 2: club events, events of visible calendars, and events of the member's own groups, each once; no drafts. */
export const events = endpoint('GET /me/events', 'svc.me.events:read', clubMember, {
  summary: "The member's calendar",
  fails: ['rangeTooLong'],
})
  .input(range.default({}))
  .output(z.object({ items: z.array(event) }))
  .query(async ({ ctx: { core, member, club }, input }) => {
    const start = input.start ?? Math.floor(core.now() / 1000)
    const end = input.end ?? start + DEFAULT_RANGE_SECONDS
    if (end < start || end > oneYearAfter(start)) throw errors.rangeTooLong()

    return { items: await core.db.execute(visible, [club, member, String(start), String(end)]) }
  })
