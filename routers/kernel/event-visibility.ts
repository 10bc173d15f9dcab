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
