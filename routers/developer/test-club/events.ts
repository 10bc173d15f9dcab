import type { Database } from '../../../prisma/client.ts'
import { instant, int, statement } from '../../../prisma/pg/statement.ts'
import { PORTION } from '../../kernel/housekeeping.ts'
import { DAY_MS } from '../../kernel/time.ts'

/** A test club has events from three weeks ago until six weeks ahead. Nine whole weeks keep the day of the week. */
const PAST_DAYS = 21
const SPAN_DAYS = 63
const WEEKS = Array.from({ length: SPAN_DAYS / 7 }, (_, week) => 7 * week - PAST_DAYS)

/** A club's events around a day: weekly trainings, matches of a visible calendar, and what members do not see. */
export function eventsAround(
  clubId: string,
  { youth, seniors }: { youth: string; seniors: string },
  at: (days: number, hour: number) => Date,
) {
  const own = (name: string) => `${clubId}-${name}`
  const [season, office] = [own('season'), own('office')]
  const one = (name: string, title: string, days: number, [from, to]: [number, number], more: object = {}) => ({
    id: own(name),
    clubId,
    title,
    start: at(days, from),
    end: at(days, to),
    location: 'Sports hall',
    state: 'published' as const,
    ...more,
  })
  const trainings = WEEKS.flatMap((days, week) => [
    { event: one(`youth-training-${week + 1}`, 'Youth training', days + 2, [16, 18]), groupId: youth },
    { event: one(`seniors-training-${week + 1}`, 'Seniors training', days + 4, [19, 21]), groupId: seniors },
  ])
  return {
    calendar: [
      { id: season, clubId, name: 'Season', visible: true },
      { id: office, clubId, name: 'Office', visible: false },
    ],
    event: [
      ...trainings.map(({ event }) => event),
      ...WEEKS.filter((_, week) => week % 2 === 0).map((days, match) =>
        one(`match-${match + 1}`, 'Match', days + 6, [14, 16], { calendarId: season, location: 'Stadium' }),
      ),
      one('party', 'Club party', 10, [17, 23], { location: 'Clubhouse' }),
      one('audit', 'Cash audit, not visible to members', 5, [18, 20], { calendarId: office, location: 'Office' }),
      one('draft', 'Draft, not visible to members', 12, [10, 12], { state: 'draft' }),
    ],
    eventGroup: trainings.map(({ event, groupId }) => ({ eventId: event.id, groupId, clubId })),
  }
}

const move = statement(
  'test_club_move_events',
  `WITH old AS (
      SELECT event.id, make_interval(days => ${SPAN_DAYS} * ceil(
        extract(epoch FROM $oldest::timestamptz - event."end") / (${SPAN_DAYS} * 86400))::int) AS later
      FROM "Organisation" club JOIN "Event" event ON event."clubId" = club.id
      WHERE club."testTeamId" IS NOT NULL AND event."end" < $oldest::timestamptz
      ORDER BY event.id LIMIT $limit::int8 FOR UPDATE OF event SKIP LOCKED),
    moved AS (UPDATE "Event" SET start = start + later, "end" = "end" + later FROM old WHERE "Event".id = old.id RETURNING 1)
  SELECT count(*) AS moved FROM moved`,
  { oldest: instant, limit: int },
  { moved: int },
)

/** Moves the oldest events of test clubs ahead, so that there are always some around today. Returns their number. */
export async function moveTestEvents(db: Database, now: number, limit = PORTION): Promise<number> {
  const oldest = now - PAST_DAYS * DAY_MS
  const [row] = await db.execute(move, { oldest, limit })
  return row!.moved
}
