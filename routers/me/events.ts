import { z } from 'zod'
import { int, statement, text } from '../../prisma/pg/statement.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import { selectVisible } from '../kernel/event-visibility.ts'
import { clubMember } from '../kernel/policies.ts'
import { DAY_SECONDS, fromUnix, unix } from '../kernel/time.ts'

/** The last second of the year 9999. */
const LAST_SECOND = 253_402_300_799
const DEFAULT_RANGE_SECONDS = 90 * DAY_SECONDS

const wrong = withError('timeInvalid')
const unixSeconds = z.int(wrong).min(0, wrong).max(LAST_SECOND, wrong)
const range = z.object({
  start: unixSeconds
    .meta({ description: 'Start of the range, in Unix seconds. Default: now.', examples: [1777593600] })
    .optional(),
  end: unixSeconds
    .meta({
      description:
        'End of the range, in Unix seconds, at most one calendar year in UTC after `start`: a year of local time that gains an hour is too long. Default: 90 days after `start`.',
      examples: [1785369600],
    })
    .optional(),
})

const event = z
  .object({
    id: z.string().meta({ description: 'Id of the event.', examples: ['training-12'] }),
    title: z.string().meta({ description: 'Title of the event.', examples: ['Rowing practice'] }),
    start: z.int().meta({ description: 'When it starts, in Unix seconds.', examples: [1777802400] }),
    end: z.int().meta({ description: 'When it ends, in Unix seconds.', examples: [1777807800] }),
    location: z.string().meta({ description: 'Where it takes place; empty when not stated.', examples: ['Boathouse'] }),
  })
  .meta({ title: 'Event', description: 'An event that the member sees.' })

/** The same date and time one year later, UTC; from 29 February it is 1 March. */
function oneYearAfter(seconds: number) {
  const date = fromUnix(seconds)
  return Math.floor(date.setUTCFullYear(date.getUTCFullYear() + 1) / 1000)
}

const visible = statement(
  'me_events',
  `${selectVisible(`event.id, title, ${unix('start')} AS start, ${unix('"end"')} AS "end", location`)}
    ORDER BY event.start, event."end", event.id`,
  { club: text, member: text, start: int, end: int },
  { id: text, title: text, start: int, end: int, location: text },
)

/**
 * Rule 2: club events, events of visible calendars, and events of the member's own groups, each once; neither drafts nor
 * cancelled ones.
 */
export const events = endpoint('GET /me/events', 'svc.me.events:read', clubMember, {
  summary: "The member's calendar",
  description:
    "Published events that the member sees in the member app: those of the whole club, of visible calendars, and of the member's own groups, each once. An event is in the range when it starts before `end` and ends after `start`; one without length also when it is at `start`. They are ordered by start, end and id.",
  returns: 'The events in the range.',
  fails: ['rangeTooLong'],
})
  .input(range.default({}))
  .output(z.object({ items: z.array(event).meta({ description: 'The events, ordered by start.' }) }))
  .query(async ({ ctx: { core, member, club }, input }) => {
    const start = input.start ?? Math.floor(core.now() / 1000)
    const end = input.end ?? start + DEFAULT_RANGE_SECONDS
    if (end < start || end > oneYearAfter(start)) throw errors.rangeTooLong()

    return { items: await core.db.execute(visible, { club, member, start, end }) }
  })
