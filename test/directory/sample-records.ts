import type { RecordTypeName } from '../../routers/directory/record-types.ts'
import { id } from '../support/tenant.ts'
import type { AnyRecord } from './records.ts'

/** One record of each kind, in a club and an academy of their own; each is visible to its person. */
export function sampleRecords() {
  const [club, academy, person, group, calendar] = ['club', 'academy', 'person', 'group', 'calendar'].map(id) as [
    string,
    string,
    string,
    string,
    string,
  ]
  const [competition, discipline, lesson] = ['competition', 'discipline', 'lesson'].map(id) as [string, string, string]
  const soon = Math.floor(Date.now() / 1000) + 86_400
  const question = { id: 'q1', type: 'single', text: '?', options: ['Yes', 'No'], solution: ['Yes'] }
  return {
    organisations: { id: club, kind: 'club', name: 'Ruderclub Ä', timeZone: 'Europe/Berlin', country: 'AT' },
    people: {
      id: person,
      firstName: 'Zoë',
      lastName: 'O’Hara',
      email: `${person}@example.org`,
      birthday: '1999-12-31',
      image: '',
    },
    memberships: { organisation: club, person, joinedAt: 1_700_000_000, leftAt: null, administrator: true },
    guardians: { child: person, guardian: id('guardian'), until: null },
    groups: { id: group, club, name: 'U14' },
    groupMembers: { group, person, role: 'member' },
    calendars: { id: calendar, club, name: 'Season', visible: true },
    events: {
      id: id('event'),
      club,
      title: 'Regatta',
      start: soon,
      end: soon + 3600.5,
      location: 'Lake',
      state: 'published',
      allDay: true,
      calendar,
      groups: [group],
    },
    trainingPlans: {
      id: id('plan'),
      club,
      name: 'Winter',
      category: 'Strength',
      description: 'Twice a week',
      exercises: ['Squat', 'Squat', 'Row'],
      groups: [group],
    },
    disciplines: { id: discipline, name: '500 m' },
    competitions: { id: competition, host: club, name: 'Cup', clubs: [club] },
    results: { id: id('result'), competition, discipline, person, place: 2, score: 101.25, timestamp: 1_710_000_000 },
    memberCards: {
      serial: id('card'),
      club,
      person,
      status: 'valid',
      name: 'Zoë O’Hara',
      memberNumber: '0042',
      departments: ['Rowing', '"Kanu", {x}'],
      validUntil: '2099-12-31',
      issuedAt: 1_705_000_000,
    },
    lessons: { id: lesson, academy, title: 'Rules' },
    quizzes: {
      id: id('quiz'),
      academy,
      lesson,
      title: 'Rules, part 1',
      threshold: 66.5,
      state: 'open',
      attempts: 3,
      questions: [question, { id: 'q2', type: 'text', text: 'Why?', options: [], solution: [] }],
    },
  } satisfies Record<RecordTypeName, AnyRecord>
}
