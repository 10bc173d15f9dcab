import type pg from 'pg'
import type { Ids } from '../../support/tenant.ts'

type Rows = Record<string, Record<string, unknown>[]>

/** The range that the tests read holds this time. */
const time = '2028-05-05T12:00:00Z'
const version = '00000000-0000-4000-8000-000000000000'

/**
 * Rows of every table with the platform's data and of those beside it, in the order of their references, such that each
 * shows in an answer to the member. Rows named `other` are of another club.
 */
export function platformRows(ids: Ids): Rows {
  const { club, academy, provider, member, team, app, client, platform } = ids
  const club2 = 'other'
  const both = (more: object) => [club, club2].map((clubId, i) => ({ id: i === 0 ? 'own' : 'other', clubId, ...more }))
  const event = { title: 'E', start: time, end: time, location: '', state: 'published' }
  const person = { personId: member }
  const clientRow = { environment: 'production', type: 'web', redirectUris: [], scopes: ['svc.me.profile:read'] }
  return {
    Organisation: [
      { id: club, kind: 'club', name: 'Club' },
      { id: club2, kind: 'club', name: 'Other' },
      { id: academy, kind: 'academy', name: 'Academy' },
      { id: provider, kind: 'provider', name: 'Provider' },
    ],
    Person: [{ id: member, firstName: 'M', lastName: 'M', email: 'm@example.org', birthday: '2000-01-01', image: '' }],
    Membership: [club, academy, provider].map((organisationId) => ({ organisationId, ...person, joinedAt: time })),
    Group: both({ name: 'Group' }),
    GroupMembership: [{ groupId: 'own', ...person, role: 'member' }],
    Calendar: both({ name: 'C', visible: true }),
    Event: [{ calendarId: 'own' }, {}, {}].map((of, i) => ({ id: `event-${i}`, clubId: club, ...event, ...of })),
    EventGroup: [{ eventId: 'event-1', groupId: 'own', clubId: club }],
    TrainingPlan: both({ name: 'Plan', category: '', description: '' }),
    Exercise: [{ planId: 'own', position: 1, name: 'Squats' }],
    PlanAssignment: [{ planId: 'own', groupId: 'own', clubId: club }],
    Competition: [club, club2].map((hostId) => ({ id: hostId === club ? 'own' : 'other', hostId, name: 'Cup' })),
    Participation: [{ competitionId: 'own', clubId: club }],
    Discipline: ['own', 'other'].map((id) => ({ id, name: '100 m' })),
    CompetitionResult: [
      { id: 'result', competitionId: 'own', disciplineId: 'own', ...person, place: 1, score: 9.5, timestamp: time },
    ],
    MemberCard: [
      {
        serial: 'card',
        clubId: club,
        ...person,
        status: 'valid',
        name: 'M',
        memberNumber: '1',
        departments: ['Rowing'],
        validUntil: '2028-12-31',
        issuedAt: time,
      },
    ],
    Team: [{ id: team, name: 'Team', level: 'developer' }],
    App: [{ id: app, name: 'App', teamId: team, providerId: provider, state: 'active', webhookUrl: 'https://a.test' }],
    Client: [
      { id: client, name: 'Client', teamId: team, appId: app, ...clientRow },
      { id: platform, name: 'Platform', ...clientRow },
    ],
    Lesson: [{ id: 'lesson', academyId: academy, title: 'Lesson' }],
    Quiz: [{ id: 'quiz', academyId: academy, title: 'Quiz', threshold: 50, lessonId: 'lesson', state: 'released' }],
    Question: [
      { quizId: 'quiz', id: 'q1', position: 1, type: 'single', text: '?', options: ['A', 'B'], solution: ['A'] },
      { quizId: 'quiz', id: 'q2', position: 2, type: 'text', text: '?', options: [], solution: [] },
    ],
    QuizResult: [
      {
        id: 'result',
        quizId: 'quiz',
        ...person,
        score: 100,
        passed: false,
        reviewStatus: 'pending_review',
        gradedQuestions: 1,
        threshold: 50,
        submittedAt: time,
      },
    ],
    Answer: [
      { resultId: 'result', quizId: 'quiz', questionId: 'q1', value: '"A"', correct: true },
      { resultId: 'result', quizId: 'quiz', questionId: 'q2', value: '"?"' },
    ],
    LessonCompletion: [{ lessonId: 'lesson', ...person, completedAt: time }],
    StorageEntry: [
      { appId: app, clubId: club, owner: '', collection: 'c', key: 'k', value: '1', version, updatedAt: time },
    ],
    Subscription: [{ id: 'subscription', appId: app, subscriber: 'S', url: 'https://a.test', createdAt: time }],
    PublishedEvent: [{ appId: app, id: 'event', type: 't', body: '{}', publishedAt: time }],
    Delivery: [
      {
        id: 'delivery',
        appId: app,
        eventId: 'event',
        subscriptionId: 'subscription',
        state: 'pending',
        attempts: 0,
        nextAttemptAt: time,
        createdAt: time,
      },
    ],
  }
}

/** Replaces everything in the database by these rows. */
export async function fill(client: pg.Client, rows: Rows) {
  const inserts = Object.entries(rows).map(([table, all]) => {
    const columns = [...new Set(all.flatMap(Object.keys))].map((name) => `"${name}"`).join()
    const json = client.escapeLiteral(JSON.stringify(all))
    return `INSERT INTO "${table}" (${columns}) SELECT ${columns} FROM json_populate_recordset(null::"${table}", ${json})`
  })
  // Faster than TRUNCATE, which makes a new file for every table.
  const removals = ['Organisation', 'Person', 'Discipline', 'Team', 'Client'].map((table) => `DELETE FROM "${table}"`)
  await client.query([...removals, ...inserts].join(';\n'))
}

export interface Column {
  table: string
  name: string
  /** As PostgreSQL calls it: `text`, `_text`, `timestamptz`. */
  type: string
}

/** The columns of these tables, but for enums, booleans and versions, which have no odd values. */
export async function readColumns(client: pg.Client, rows: Rows): Promise<Column[]> {
  const { rows: columns } = await client.query<Column>(
    `SELECT table_name AS table, column_name AS name, udt_name AS type FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = ANY ($1) AND data_type <> 'USER-DEFINED'
       AND udt_name <> 'bool' AND column_name <> 'version' ORDER BY 1, 2`,
    [Object.keys(rows)],
  )
  return columns
}
