import { createHash } from 'node:crypto'
import type { ICalEventData } from 'ical-generator'
import type { CalendarEvent } from '../../routers/calendar/events.ts'
import type { Feed } from '../../routers/calendar/feeds.ts'
import { DAY_MS, fromUnix, isTimeZone } from '../../routers/kernel/time.ts'

/** How often programs should ask. Google asks a few times a day whatever this says. */
const HOUR_SECONDS = 3_600

interface Options {
  feed: Pick<Feed, 'name' | 'timeZone'>
  /** Makes the events' ids unique among services. */
  host: string
}

/**
 * An iCalendar object (RFC 5545). Times are in UTC, as the VTIMEZONE of a library differs in some zones from the time zone data of
 * Node or of a calendar program, and would move events by an hour; programs show them in the reader's zone.
 */
export async function renderCalendar(events: readonly CalendarEvent[], { feed, host }: Options): Promise<string> {
  const { ICalCalendar, ICalEventStatus } = await import('ical-generator')
  const timeZone = isTimeZone(feed.timeZone) ? feed.timeZone : 'UTC'
  // In Swedish: YYYY-MM-DD.
  const days = new Intl.DateTimeFormat('sv', { timeZone })
  const toTimes = ({ start, end, allDay }: CalendarEvent): Pick<ICalEventData, 'start' | 'end' | 'allDay'> => {
    if (!allDay) return { start: fromUnix(start), ...(end > start && { end: fromUnix(end) }) }
    const [first, last] = [start, Math.max(start, end - 1)].map((time) => Date.parse(days.format(fromUnix(time))))
    // DTEND is the day after the last.
    return { start: new Date(first!), end: new Date(last! + DAY_MS), allDay }
  }
  const calendar = new ICalCalendar({ prodId: '//member-apps//calendar//EN', ttl: HOUR_SECONDS })
  calendar.x({ 'X-WR-CALNAME': plain(feed.name), 'X-WR-TIMEZONE': timeZone })
  for (const event of events) {
    const modified = fromUnix(event.modifiedAt)
    calendar.createEvent({
      id: `${createHash('sha256').update(event.id).digest('hex').slice(0, 32)}@${host}`,
      ...toTimes(event),
      summary: plain(event.title),
      location: event.location === '' ? null : plain(event.location),
      status: event.cancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
      sequence: event.sequence,
      stamp: modified,
      lastModified: modified,
    })
  }
  return propertiesFirst(calendar.toString())
}

/** RFC 5545 allows no control characters but tabs and the line breaks, which ical-generator escapes. */
const plain = (value: string) => value.replace(/(?![\t\r\n])\p{Cc}|[\u2028\u2029]/gu, ' ')

/** ical-generator writes the calendar's own `X-` properties after its events; they come before them (RFC 5545, 3.6). */
function propertiesFirst(text: string): string {
  const [from, to] = [text.lastIndexOf('\r\nX-WR-CALNAME:'), text.lastIndexOf('\r\nEND:VCALENDAR')]
  const at = Math.min(from, ...[text.indexOf('\r\nBEGIN:VEVENT')].filter((found) => found > 0))
  return `${text.slice(0, at)}${text.slice(from, to)}${text.slice(at, from)}${text.slice(to)}\r\n`
}
