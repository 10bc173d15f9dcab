import { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { errors, withError } from '../errors.ts'
import { clubMember } from '../policies.ts'
import { DAY_SECONDS, fromUnix, toUnix } from '../time.ts'
import { ownGroup } from './groups.ts'

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
 * Events with `start < to and end > from`, and events without length that start at `from`. Written so that no condition
 * compares two columns, and the index on (club, end) serves it.
 */
const overlaps = (from: Date, to: Date) => ({
  end: { gte: from },
  start: { lt: to },
  AND: { OR: [{ end: { gt: from } }, { start: { gte: from } }] },
})

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

    const rows = await core.db.event.findMany({
      where: {
        clubId: club,
        state: 'published',
        ...overlaps(fromUnix(start), fromUnix(end)),
        OR: [
          { calendarId: null, groups: { none: {} } },
          { calendar: { visible: true } },
          { groups: { some: { group: ownGroup(club, member) } } },
        ],
      },
      select: { id: true, title: true, start: true, end: true, location: true },
      orderBy: [{ start: 'asc' }, { end: 'asc' }, { id: 'asc' }],
    })
    return { items: rows.map((row) => ({ ...row, start: toUnix(row.start), end: toUnix(row.end) })) }
  })
