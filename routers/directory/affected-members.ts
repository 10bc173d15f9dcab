import type { MemberEvent } from '../../prisma/generated/enums.ts'
import { isForClub, isPublished } from '../kernel/event-visibility.ts'
import type { RecordTypeName } from './record-types.ts'

/** An answer of `me/*` that shows records. */
export interface Shown {
  event: MemberEvent
  /** SQL with the columns `organisationId` and `personId`: the members who see the records whose keys are in `touched`. */
  members: string
  /** They are the same before a change and after it, and a new record has none. */
  fixed?: true
}

interface ShownRecordType {
  /** The columns that are shown; by default all but the version. */
  columns?: readonly string[]
  /** What a new or changed record affects, before the change and after it. */
  changes?: readonly Shown[]
  /** What the end of a record affects; by default the same. */
  endings?: readonly Shown[]
}

/** Members of groups; DISTINCT, as the planner would look a group up again for each consent. */
const selectGroupMembers = (groups: string) => `SELECT audience."clubId" AS "organisationId", own."personId"
  FROM (SELECT DISTINCT one.id FROM (${groups}) one (id)) touching JOIN "Group" audience USING (id)
    JOIN "GroupMembership" own ON own."groupId" = audience.id`

const selectClubMembers = (clubs: string) => `SELECT "organisationId", "personId"
  FROM (SELECT DISTINCT one.id FROM (${clubs}) one (id)) touching JOIN "Membership" ON "organisationId" = touching.id`

const published = (on: string) => `touched JOIN "Event" event ON ${on} AND ${isPublished}`
const selectEventMembers = (on: string) =>
  selectGroupMembers(`SELECT "groupId" FROM ${published(on)} JOIN "EventGroup" ON "eventId" = event.id`)

/** A member of several groups of an event is affected by each of them. */
const inGroup = (condition: string) => `SELECT own."clubId" AS "organisationId", touched."personId"
  FROM touched JOIN "Group" own ON own.id = touched."groupId" WHERE ${condition}`

const hasEvents = (group: string) => `EXISTS (SELECT FROM "EventGroup" JOIN "Event" event ON event.id = "eventId"
  WHERE "groupId" = ${group} AND ${isPublished})`

const results = (on: string): Shown[] => [
  {
    event: 'competitions',
    members: `SELECT club.id AS "organisationId", result."personId"
      FROM touched JOIN "CompetitionResult" result ON ${on} AND place IS NOT NULL
        JOIN "Competition" competition ON competition.id = result."competitionId" CROSS JOIN LATERAL (
          SELECT "hostId" AS id UNION ALL SELECT "clubId" FROM "Participation" WHERE "competitionId" = competition.id) club`,
  },
]

const groupShown: Shown = { event: 'groups', members: selectGroupMembers('SELECT id FROM touched'), fixed: true }

/** What `me/*` shows of the record types. The end of a membership is announced by a trigger. */
export const shownRecordTypes: { readonly [N in RecordTypeName]?: ShownRecordType } = {
  people: {
    changes: [
      {
        event: 'profile',
        members: `SELECT "organisationId", "personId" FROM touched JOIN "Membership" ON "personId" = touched.id`,
        fixed: true,
      },
    ],
    endings: [],
  },
  groups: {
    changes: [groupShown],
    endings: [
      groupShown,
      { event: 'events', members: selectGroupMembers(`SELECT id FROM touched WHERE ${hasEvents('touched.id')}`) },
      {
        event: 'trainingplans',
        members: selectGroupMembers('SELECT id FROM touched JOIN "PlanAssignment" ON "groupId" = touched.id'),
      },
    ],
  },
  groupMembers: {
    changes: [
      { event: 'groups', members: inGroup('true') },
      { event: 'events', members: inGroup(hasEvents('own.id')) },
      { event: 'trainingplans', members: inGroup('EXISTS (SELECT FROM "PlanAssignment" WHERE "groupId" = own.id)') },
    ],
  },
  calendars: {
    columns: ['visible'],
    changes: [
      {
        event: 'events',
        members: selectClubMembers(`SELECT event."clubId" FROM ${published('"calendarId" = touched.id')}`),
        fixed: true,
      },
    ],
    endings: [
      {
        event: 'events',
        members: selectClubMembers(`SELECT event."clubId" FROM ${published('"calendarId" = touched.id')}
          JOIN "Calendar" ON "Calendar".id = touched.id AND visible`),
      },
      { event: 'events', members: selectEventMembers('"calendarId" = touched.id') },
    ],
  },
  events: {
    columns: ['title', 'start', 'end', 'location', 'state', 'calendarId'],
    changes: [
      {
        event: 'events',
        members: selectClubMembers(`SELECT event."clubId" FROM ${published('event.id = touched.id')}
          LEFT JOIN "Calendar" ON "Calendar".id = "calendarId"
          WHERE ${isForClub({ isCalendarVisible: 'visible' })}`),
      },
      { event: 'events', members: selectEventMembers('event.id = touched.id') },
    ],
  },
  trainingPlans: {
    changes: [
      {
        event: 'trainingplans',
        members: selectGroupMembers('SELECT "groupId" FROM touched JOIN "PlanAssignment" ON "planId" = touched.id'),
      },
    ],
  },
  disciplines: { endings: results('"disciplineId" = touched.id') },
  competitions: { changes: results('"competitionId" = touched.id') },
  results: { changes: results('result.id = touched.id') },
  memberCards: {
    changes: [
      {
        event: 'membercard',
        members: `SELECT "clubId" AS "organisationId", "personId" FROM touched JOIN "MemberCard" card USING (serial)
          WHERE "validUntil" IS NOT NULL AND NOT EXISTS (SELECT FROM "MemberCard" newer
            WHERE newer."clubId" = card."clubId" AND newer."personId" = card."personId" AND newer."validUntil" IS NOT NULL
              AND (newer."issuedAt", newer.serial) > (card."issuedAt", card.serial))`,
      },
    ],
  },
}
