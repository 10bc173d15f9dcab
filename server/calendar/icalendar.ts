import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { ICalEventData } from 'ical-generator'
import type { CalendarEvent } from '../../routers/calendar/events.ts'
import type { Feed } from '../../routers/calendar/feeds.ts'
import { DAY_MS, fromUnix, isTimeZone } from '../../routers/kernel/time.ts'

/** How often programs should ask. Google asks a few times a day whatever this says. */
const HOUR_SECONDS = 3_600
const MAX_LINE_BYTES = 75
/** In Unix seconds. In each time zone the day after it is within 9999: a DATE has four digits for the year (RFC 5545, 3.3.4). */
const LAST_DAY = Date.UTC(9999, 11, 30) / 1000
/** Between them other requests are processed: 100 with the longest texts take some 5 ms. */
const EVENTS_A_TURN = 100

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
  const { ICalCalendar, ICalEvent, ICalEventStatus } = await import('ical-generator')
  const timeZone = isTimeZone(feed.timeZone) ? feed.timeZone : 'UTC'
  // In Swedish: YYYY-MM-DD.
  const days = new Intl.DateTimeFormat('sv', { timeZone })
  const toTimes = ({ start, end, allDay }: CalendarEvent): Pick<ICalEventData, 'start' | 'end' | 'allDay'> => {
    if (!allDay) return { start: fromUnix(start), ...(end > start && { end: fromUnix(end) }) }
    const [first, last] = [start, Math.max(start, end - 1)].map((time) =>
      Date.parse(days.format(fromUnix(Math.min(time, LAST_DAY)))),
    )
    // DTEND is the day after the last.
    return { start: new Date(first!), end: new Date(last! + DAY_MS), allDay }
  }
  const calendar = new ICalCalendar({ prodId: '//member-apps//calendar//EN', ttl: HOUR_SECONDS })
  calendar.x({ 'X-WR-CALNAME': plain(feed.name), 'X-WR-TIMEZONE': timeZone })
  const texts: string[] = []
  for (const event of events) {
    if (texts.length % EVENTS_A_TURN === EVENTS_A_TURN - 1) await setImmediate()
    const modified = fromUnix(event.modifiedAt)
    const data = {
      id: `${createHash('sha256').update(event.id).digest('hex').slice(0, 32)}@${host}`,
      ...toTimes(event),
      summary: plain(event.title),
      location: event.location === '' ? null : plain(event.location),
      status: event.cancelled ? ICalEventStatus.CANCELLED : ICalEventStatus.CONFIRMED,
      sequence: event.sequence,
      stamp: modified,
      lastModified: modified,
    }
    texts.push(new ICalEvent(data, calendar).toString().split('\r\n').map(fold).join('\r\n'))
  }
  // ical-generator would write the calendar's own X- properties after the events (RFC 5545, 3.6: before).
  return calendar.toString().replace(/END:VCALENDAR$/, () => `${texts.join('')}END:VCALENDAR\r\n`)
}

/** In place of ical-generator's, which takes 1 s for 2,000 events, and 10 for long texts. At most 75 bytes a line (RFC 5545, 3.1). */
function fold(line: string): string {
  if (Buffer.byteLength(line) <= MAX_LINE_BYTES) return line
  const bytes = Buffer.from(line)
  const parts: string[] = []
  for (let from = 0; from < bytes.length; ) {
    // The space that begins the next line counts as well.
    let to = Math.min(from + MAX_LINE_BYTES - 1, bytes.length)
    // Not within a character.
    while (to < bytes.length && (bytes[to]! & 0xc0) === 0x80) to--
    parts.push(bytes.toString('utf8', from, to))
    from = to
  }
  return parts.join('\r\n ')
}

/** RFC 5545 allows no control characters but tabs and the line breaks, which ical-generator escapes. */
const plain = (value: string) => value.replace(/(?![\t\r\n])\p{Cc}|[\u2028\u2029]/gu, ' ')
