import { questions } from '../../../prisma/demo-quizzes.ts'
import type { Prisma } from '../../../prisma/generated/client.ts'
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts'
import { eventsAround } from './events.ts'

/** One quiz that is graded at once, one that a person has to review, and one that takes no more attempts: as in the demo data. */
function buildQuizzes(academyId: string) {
  const own = (name: string) => `${academyId}-${name}`
  const lesson = { id: own('lesson'), academyId, title: 'Basics' }
  const quizzes = [
    { name: 'choice-quiz', title: 'Basics', lessonId: lesson.id, state: 'released' },
    { name: 'open-quiz', title: 'Practice', lessonId: null, state: 'released' },
    { name: 'closed-quiz', title: 'Examination of last year', lessonId: null, state: 'closed' },
  ] as const
  return {
    lesson: [lesson],
    quiz: quizzes.map(({ name, ...quiz }) => ({ id: own(name), academyId, threshold: 60, ...quiz })),
    question: quizzes.flatMap(({ name }) =>
      questions[name].map((question, index) => ({
        quizId: own(name),
        id: `q${index + 1}`,
        position: index + 1,
        ...question,
      })),
    ),
  }
}

/** The ids of a team's test club. They stay the same at a reset, as apps and tests of a team refer to them. */
export interface TestClub {
  team: string
  club: string
  academy: string
  provider: string
  members: { alex: string; kim: string; robin: string }
}

export const people = {
  alex: { firstName: 'Alex', lastName: 'Test', email: 'alex@example.org', birthday: new Date('1988-05-14') },
  kim: { firstName: 'Kim', lastName: 'Test', email: 'kim@example.org', birthday: new Date('2011-09-02') },
  robin: { firstName: 'Robin', lastName: 'Test', email: 'robin@example.org', birthday: new Date('1995-01-30') },
} as const

/** Shared entries that each app of the team begins with. */
export const entries = [
  { collection: 'scores', key: 'alice', value: '{"points":12}' },
  { collection: 'scores', key: 'bob', value: '{"points":9}' },
  { collection: 'settings', key: 'theme', value: '{"colour":"green","dark":false}' },
]

type Rows = {
  [M in Prisma.ModelName as Uncapitalize<M>]?: Prisma.TypeMap['model'][M]['operations']['createMany']['args']['data']
}

/** All that a test club has besides its people, in the order of the foreign keys. */
export function buildContent({ team, club: clubId, academy, members: { alex, kim, robin } }: TestClub, now: Date) {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  const at = (days: number, hour = 0) => new Date(today + days * DAY_MS + hour * HOUR_MS)
  const own = (name: string) => `${clubId}-${name}`
  const [youth, seniors] = [own('youth'), own('seniors')]
  const plans = {
    strength: ['Squats, 3 × 12', 'Push-ups, 3 × 10', 'Plank, 3 × 45 s'],
    endurance: ['Warm-up, 10 minutes', 'Intervals, 6 × 400 m', 'Easy run, 15 minutes'],
  }

  return {
    group: [
      { id: youth, clubId, name: 'Youth U16' },
      { id: seniors, clubId, name: 'Seniors' },
    ],
    groupMembership: [
      { groupId: youth, personId: alex, role: 'trainer' },
      { groupId: youth, personId: kim, role: 'member' },
      { groupId: seniors, personId: alex, role: 'member' },
      { groupId: seniors, personId: robin, role: 'member' },
    ],
    ...eventsAround(clubId, { youth, seniors }, at),
    trainingPlan: [
      { id: own('strength'), clubId, name: 'Strength basics', category: 'Strength', description: 'Twice a week.' },
      { id: own('endurance'), clubId, name: 'Intervals', category: 'Endurance', description: 'Once a week, outdoors.' },
    ],
    exercise: Object.entries(plans).flatMap(([plan, names]) =>
      names.map((name, index) => ({ planId: own(plan), position: index + 1, name })),
    ),
    planAssignment: [
      { planId: own('strength'), groupId: youth, clubId },
      { planId: own('strength'), groupId: seniors, clubId },
      { planId: own('endurance'), groupId: seniors, clubId },
    ],
    competition: [
      { id: own('open'), hostId: clubId, name: 'Test Open' },
      { id: own('cup'), hostId: clubId, name: 'Test Cup' },
    ],
    discipline: [
      { id: own('100m'), name: '100 m', testTeamId: team },
      { id: own('long-jump'), name: 'Long jump', testTeamId: team },
    ],
    competitionResult: [
      ['open', '100m', alex, 2, 12.84, -40],
      ['open', '100m', robin, 1, 12.51, -40],
      ['open', 'long-jump', kim, 3, 4.32, -40],
      ['cup', 'long-jump', alex, 1, 5.61, -12],
      ['cup', 'long-jump', robin, null, 0, -12],
      ['cup', '100m', kim, 2, 13.9, -12],
    ].map((row, index) => {
      const [competition, discipline, personId, place, score, days] = row as [
        string,
        string,
        string,
        number,
        number,
        number,
      ]
      return {
        id: own(`result-${index + 1}`),
        competitionId: own(competition),
        disciplineId: own(discipline),
        personId,
        place,
        score,
        timestamp: at(days, 13),
      }
    }),
    memberCard: [
      {
        serial: own('card-1'),
        personId: alex,
        name: 'Alex Test',
        memberNumber: '1001',
        departments: ['Athletics', 'Swimming'],
      },
      { serial: own('card-2'), personId: kim, name: 'Kim Test', memberNumber: '1002', departments: ['Athletics'] },
      { serial: own('card-3'), personId: robin, name: 'Robin Test', memberNumber: '1003', departments: [] },
    ].map((card) => ({
      clubId,
      status: 'valid',
      ...card,
      issuedAt: at(-60),
      validUntil: new Date(Date.UTC(now.getUTCFullYear() + 5, 11, 31)),
    })),
    ...buildQuizzes(academy),
  } satisfies Rows
}
