import { boolean, choice, date, id, optional, prose, text, time } from '../fields.ts'
import { exercises, ids, texts } from '../lists.ts'
import { recordType } from '../record-type.ts'
import * as to from '../references.ts'
import { removed } from '../removal-rules.ts'
import { isOfTestClub } from './people.ts'

const clubId = () => id('The club.', { column: 'clubId', reference: to.club })
const personId = () => id('The person.', { column: 'personId', reference: to.person })

export const groups = recordType({
  name: 'groups',
  table: 'Group',
  key: ['id'],
  fields: { id: id('The id.'), club: clubId(), name: text('The name.') },
  fixed: 'club',
  hidden: isOfTestClub('row."clubId"'),
  ending: removed('Group', ['id'], 'Removed, with its members, and with the events that are for no other group.'),
})

export const groupMembers = recordType({
  name: 'groupMembers',
  table: 'GroupMembership',
  key: ['group', 'person', 'role'],
  fields: {
    group: id('The group.', { column: 'groupId', reference: to.group }),
    person: personId(),
    role: choice({ member: 'member', trainer: 'trainer' }, 'A person who is both has two records.'),
  },
  hidden: `(SELECT ${isOfTestClub('own."clubId"')} FROM "Group" own WHERE own.id = row."groupId")`,
  ending: removed('GroupMembership', ['groupId', 'personId', 'role'], 'Removed.'),
})

export const calendars = recordType({
  name: 'calendars',
  table: 'Calendar',
  key: ['id'],
  fields: {
    id: id('The id.'),
    club: clubId(),
    name: text('The name.'),
    visible: boolean('Whether members see its events.'),
  },
  fixed: 'club',
  hidden: isOfTestClub('row."clubId"'),
  ending: removed('Calendar', ['id'], 'Removed, with its events.'),
})

export const events = recordType({
  name: 'events',
  table: 'Event',
  key: ['id'],
  fields: {
    id: id('The id.'),
    club: clubId(),
    title: text('The title.'),
    start: time('The start.'),
    end: time('The end, not before the start.'),
    location: prose('Where it is.'),
    state: choice(
      { draft: 'draft', published: 'published', cancelled: 'cancelled' },
      'Members see published events; calendar programs show for 30 days that one was cancelled.',
      { initial: `'draft'` },
    ),
    allDay: boolean('Whether calendar programs show days without times.', {
      initial: 'false',
    }),
    calendar: optional(id('The calendar.', { column: 'calendarId', reference: to.sameClub('Calendar') })),
    groups: ids('The groups; without these and a calendar, it is for the whole club.', to.sameClub('Group'), {
      table: 'EventGroup',
      parent: 'eventId',
      key: 'groupId',
      shared: ['clubId'],
    }),
  },
  fixed: 'club',
  rules: [
    {
      field: 'end',
      refuses: `row."end" < row.start`,
      value: 'row."end"',
      reason: 'is before the start of the event',
    },
  ],
  hidden: isOfTestClub('row."clubId"'),
  ending: removed('Event', ['id'], 'Removed.'),
})

export const trainingPlans = recordType({
  name: 'trainingPlans',
  table: 'TrainingPlan',
  key: ['id'],
  fields: {
    id: id('The id.'),
    club: clubId(),
    name: text('The name.'),
    category: text('The category.'),
    description: prose('The description.'),
    exercises: exercises('The names of the exercises, in order.'),
    groups: ids('The groups that train by it.', to.sameClub('Group'), {
      table: 'PlanAssignment',
      parent: 'planId',
      key: 'groupId',
      shared: ['clubId'],
    }),
  },
  fixed: 'club',
  hidden: isOfTestClub('row."clubId"'),
  ending: removed('TrainingPlan', ['id'], 'Removed, with its exercises.'),
})

export const memberCards = recordType({
  name: 'memberCards',
  table: 'MemberCard',
  key: ['serial'],
  fields: {
    serial: id('The serial number.'),
    club: clubId(),
    person: personId(),
    status: text('`valid`, or why it is not.'),
    name: text('The name on the card.'),
    memberNumber: text('The number of the member.'),
    departments: texts('The departments, in order.', { initial: `'{}'` }),
    validUntil: optional(date('The last day on which it is valid. A card without one is stored, and not shown.')),
    issuedAt: time('When it was issued. Members see the card issued last.', {
      initial: ':now',
    }),
  },
  hidden: isOfTestClub('row."clubId"'),
  ending: removed('MemberCard', ['serial'], 'Removed.'),
})
