import type { ScopesAt } from './demo-clients.ts'
import { clients } from './demo-clients.ts'
import { answers, quizzes, result } from './demo-quizzes.ts'
import type { Prisma } from './generated/client.ts'

const DAY_MS = 86_400_000

type Rows = {
  [M in Prisma.ModelName as Uncapitalize<M>]?: Prisma.TypeMap['model'][M]['operations']['createMany']['args']['data']
}

/** The demo data, in the order of its foreign keys. Dates are relative to `now`. */
export function demo(now: Date, scopesAt: ScopesAt) {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  const at = (days: number, hours = 0) => new Date(today + days * DAY_MS + hours * 3_600_000)
  const on = (date: string) => new Date(`${date}T00:00:00Z`)

  return {
    organisation: [
      { id: 'riverside', kind: 'club', name: 'SV Riverside 1921' },
      { id: 'northgate', kind: 'club', name: 'Ruderverein Northgate' },
      { id: 'academy', kind: 'academy', name: 'Trainerakademie' },
      { id: 'other-academy', kind: 'academy', name: 'Judges School' },
      { id: 'provider', kind: 'provider', name: 'Vereinswerk' },
      { id: 'other-provider', kind: 'provider', name: 'Clubhouse Systems' },
    ],
    person: [
      {
        id: 'anna',
        firstName: 'Anna',
        lastName: 'Berger',
        email: 'anna.berger@example.org',
        birthday: on('1991-04-17'),
        image: 'https://images.example.org/anna.jpg',
      },
      { id: 'ben', firstName: 'Ben', lastName: 'Okafor', email: 'ben.okafor@example.org' },
      { id: 'cara', firstName: 'Cara', lastName: 'Lindström', email: 'cara@example.org', birthday: on('2000-02-29') },
      { id: 'dora', firstName: 'Dora', lastName: 'Nowak', email: 'dora.nowak@example.org', birthday: on('1987-12-31') },
      {
        id: 'emil',
        firstName: 'Emil',
        lastName: 'Haddad',
        email: 'emil.haddad@example.org',
        birthday: on('1979-08-05'),
      },
    ],
    membership: [
      { organisationId: 'riverside', personId: 'anna', joinedAt: at(-2_000) },
      { organisationId: 'riverside', personId: 'ben', joinedAt: at(-400) },
      { organisationId: 'riverside', personId: 'cara', joinedAt: at(-900), leftAt: at(-30) },
      { organisationId: 'northgate', personId: 'dora', joinedAt: at(-1_200) },
      { organisationId: 'riverside', personId: 'emil', joinedAt: at(-1_500), administrator: true },
      { organisationId: 'northgate', personId: 'emil', joinedAt: at(-700) },
      ...['anna', 'ben', 'cara', 'dora'].flatMap((personId) => [
        { organisationId: 'academy', personId, joinedAt: at(-200) },
        { organisationId: 'provider', personId, joinedAt: at(-200) },
      ]),
    ],
    group: [
      { id: 'youth', clubId: 'riverside', name: 'Jugend U16' },
      { id: 'seniors', clubId: 'riverside', name: 'Seniors' },
      { id: 'board', clubId: 'riverside', name: 'Vorstand' },
      { id: 'rowers', clubId: 'northgate', name: 'Rowers' },
    ],
    groupMembership: [
      { groupId: 'youth', personId: 'anna', role: 'trainer' },
      { groupId: 'seniors', personId: 'anna', role: 'member' },
      { groupId: 'youth', personId: 'ben', role: 'member' },
      { groupId: 'rowers', personId: 'dora', role: 'member' },
      { groupId: 'seniors', personId: 'emil', role: 'member' },
      { groupId: 'rowers', personId: 'emil', role: 'member' },
    ],
    calendar: [
      { id: 'riverside-season', clubId: 'riverside', name: 'Season', visible: true },
      { id: 'riverside-office', clubId: 'riverside', name: 'Geschäftsstelle', visible: false },
    ],
    event: [
      { id: 'club-party', title: 'Sommerfest', ...hours(at(9, 15), 7), location: 'Clubhouse' },
      { id: 'summer-camp', title: 'Summer camp', ...hours(at(200, 8), 120), location: 'Camping am See' },
      {
        id: 'open-calendar',
        title: 'Saisoneröffnung',
        ...hours(at(14, 9), 8),
        location: 'Stadion am Fluss',
        calendarId: 'riverside-season',
      },
      {
        id: 'closed-calendar',
        title: 'Cash audit',
        ...hours(at(16, 18), 2),
        location: 'Office',
        calendarId: 'riverside-office',
      },
      { id: 'youth-training', title: 'Training U16', ...hours(at(2, 16), 2), location: 'Halle 2' },
      { id: 'board-meeting', title: 'Board meeting', ...hours(at(6, 19), 2), location: 'Clubhouse' },
      { id: 'draft-event', title: 'Flohmarkt', ...hours(at(20, 10), 5), location: 'Car park', state: 'draft' as const },
    ].map((event) => ({ state: 'published' as const, clubId: 'riverside', ...event })),
    eventGroup: [
      { eventId: 'youth-training', groupId: 'youth', clubId: 'riverside' },
      { eventId: 'board-meeting', groupId: 'board', clubId: 'riverside' },
    ],
    trainingPlan: [
      { id: 'plan-strength', name: 'Strength basics', category: 'Strength', description: 'Twice a week, 40 minutes.' },
      { id: 'plan-board', name: 'Rückenfit', category: 'Mobility', description: 'For those who sit a lot.' },
    ].map((plan) => ({ clubId: 'riverside', ...plan })),
    exercise: [
      { planId: 'plan-strength', position: 1, name: 'Kniebeugen, 3 × 12' },
      { planId: 'plan-strength', position: 2, name: 'Push-ups, 3 × 10' },
      { planId: 'plan-strength', position: 3, name: 'Plank, 3 × 45 s' },
      { planId: 'plan-board', position: 1, name: 'Katzenbuckel, 2 × 15' },
    ],
    planAssignment: [
      { planId: 'plan-strength', groupId: 'youth' },
      { planId: 'plan-strength', groupId: 'seniors' },
      { planId: 'plan-board', groupId: 'board' },
    ].map((assignment) => ({ clubId: 'riverside', ...assignment })),
    competition: [
      { id: 'riverside-open', hostId: 'riverside', name: 'Riverside Open' },
      { id: 'northgate-cup', hostId: 'northgate', name: 'Northgate Cup' },
      { id: 'northgate-masters', hostId: 'northgate', name: 'Northgate Masters' },
    ],
    participation: [
      { competitionId: 'riverside-open', clubId: 'northgate' },
      { competitionId: 'northgate-cup', clubId: 'riverside' },
    ],
    discipline: [
      { id: 'open-100m', name: '100 m' },
      { id: 'cup-long-jump', name: 'Weitsprung' },
      { id: 'masters-100m', name: '100 m' },
    ],
    competitionResult: [
      {
        id: 'result-hosted',
        competitionId: 'riverside-open',
        disciplineId: 'open-100m',
        place: 2,
        score: 12.84,
        timestamp: at(-40, 14),
      },
      {
        id: 'result-away',
        competitionId: 'northgate-cup',
        disciplineId: 'cup-long-jump',
        place: 1,
        score: 5.61,
        timestamp: at(-12, 11),
      },
      {
        id: 'result-foreign',
        competitionId: 'northgate-masters',
        disciplineId: 'masters-100m',
        place: 4,
        score: 13.02,
        timestamp: at(-100, 15),
      },
    ].map((result) => ({ personId: 'anna', ...result })),
    memberCard: [
      {
        serial: 'RS-2041-7',
        personId: 'anna',
        name: 'Anna Berger',
        memberNumber: '2041',
        departments: ['Leichtathletik', 'Swimming'],
        validUntil: on(`${now.getUTCFullYear() + 1}-12-31`),
        issuedAt: at(-60),
      },
      {
        serial: 'RS-1733-2',
        personId: 'emil',
        name: 'Emil Haddad',
        memberNumber: '1733',
        departments: ['Rowing'],
        validUntil: on(`${now.getUTCFullYear() - 1}-12-31`),
        issuedAt: at(-1_000),
      },
    ].map((card) => ({ clubId: 'riverside', status: 'valid', ...card })),
    ...clients(scopesAt),
    ...quizzes,
    quizResult: [{ ...result, submittedAt: at(-3, 17) }],
    answer: answers,
  } satisfies Rows
}

const hours = (start: Date, length: number) => ({ start, end: new Date(start.getTime() + length * 3_600_000) })
