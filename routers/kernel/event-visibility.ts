/** SQL of who sees an event, a row `event` of "Event": rule 2 of the calendar. Its groups' members see it too, once published. */
export const isPublished = `event.state = 'published'`

interface Parts {
  hasGroups?: string
  isCalendarVisible?: string
}

/**
 * Whether every member of the club sees it, once published: it has neither calendar nor groups, or its calendar is visible. Both
 * parts can be given where a statement has read them.
 */
export const isForClub = ({
  hasGroups = 'EXISTS (SELECT FROM "EventGroup" WHERE "eventId" = event.id)',
  isCalendarVisible = '(SELECT visible FROM "Calendar" WHERE "Calendar".id = "calendarId")',
}: Parts = {}) => `("calendarId" IS NULL AND NOT ${hasGroups} OR ${isCalendarVisible})`

/**
 * SQL of the events of the club $club that $member sees, each once, with `start < $end` and `end > $start`, and those without length
 * that start at `$start`; the index on (club, end) serves the first condition. Groups and calendar are looked up event by event: a
 * join may read those of all clubs. Club and range are columns of `own`: with their values in its plan, PostgreSQL makes a new plan
 * for every request of a small club.
 */
export const selectVisible = (columns: string, isShown = isPublished) => `WITH own AS MATERIALIZED
      (SELECT $club::text AS club, to_timestamp($start) AS "from", to_timestamp($end) AS until,
         coalesce(array_agg("groupId"), '{}') AS groups FROM "GroupMembership" WHERE "personId" = $member)
    SELECT ${columns}
    FROM own CROSS JOIN "Event" event
      CROSS JOIN LATERAL (SELECT count(*) AS groups, coalesce(bool_or("groupId" = ANY (own.groups)), false) AS "isOwn"
        FROM "EventGroup" WHERE "eventId" = event.id) audience
    WHERE event."clubId" = club AND ${isShown}
      AND "end" >= "from" AND start < until AND ("end" > "from" OR start >= "from")
      AND (audience."isOwn" OR ${isForClub({ hasGroups: 'audience.groups > 0' })})`
