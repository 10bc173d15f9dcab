import { isForClub, isPublished } from '../kernel/event-visibility.ts'
import { soleMailboxSql } from '../kernel/mailboxes.ts'

/** A date and time in ISO 8601, e.g. `2026-11-22T08:30:00+00:00`. */
type Time = string

export interface PersonalData {
  exportedAt: Time
  profile: {
    id: string
    firstName: string
    lastName: string
    email: string
    birthday: string | null
    image: string
    /** That of their mails; null before the first sign-in. */
    preferredLanguage: 'en' | 'de' | 'fr' | 'it' | 'nl' | 'es' | null
  }
  memberships: {
    organisation: string
    kind: 'club' | 'academy' | 'provider'
    name: string
    joinedAt: Time
    leftAt: Time | null
    administrator: boolean
  }[]
  /** The person is the child, or the guardian. */
  guardians: { child: string; guardian: string; until: string | null }[]
  groups: { id: string; club: string; name: string; role: 'member' | 'trainer' }[]
  /** What `GET /me/events` shows in the clubs that the person belongs to, of all times. */
  events: { id: string; club: string; title: string; start: Time; end: Time; location: string }[]
  /** What `GET /me/trainingplans` shows there; `groups` are the person's. */
  trainingPlans: {
    id: string
    club: string
    name: string
    category: string
    description: string
    exercises: string[]
    groups: string[]
  }[]
  competitionResults: {
    id: string
    competitionId: string
    competition: string
    disciplineId: string
    discipline: string
    place: number | null
    score: number
    timestamp: Time
  }[]
  memberCards: {
    serial: string
    club: string
    status: string
    name: string
    memberNumber: string
    departments: string[]
    validUntil: string | null
    issuedAt: Time
  }[]
  /** `answer` is JSON text, null without one; `correct` is null until a person has graded it. */
  quizResults: {
    id: string
    quiz: string
    title: string
    score: number
    passed: boolean
    reviewStatus: 'passed' | 'failed' | 'pending_review'
    gradedQuestions: number
    threshold: number
    submittedAt: Time
    answers: { question: string; text: string; answer: string | null; correct: boolean | null }[]
  }[]
  lessonCompletions: { lesson: string; title: string; completedAt: Time }[]
  consents: {
    client: string
    name: string
    organisation: string
    scopes: string[]
    createdAt: Time
    withdrawnAt: Time | null
    /** When a replayed refresh token withdrew it. */
    replayedAt: Time | null
  }[]
  /** For a copy of their data; answered ones of the last year. */
  dataRequests: { id: string; requestedAt: Time; deadline: Time; answeredAt: Time | null }[]
  /** At which calendar programs read the person's events; `client` is null where no app has created it. */
  calendarAddresses: { id: string; club: string; client: string | null; createdAt: Time }[]
  /** What the person has decided about apps, as an administrator of clubs. */
  approvals: {
    id: string
    club: string
    app: string
    state: 'approved' | 'refused' | 'withdrawn'
    reason: string | null
    requestedAt: Time | null
    decidedAt: Time
  }[]
  /** For apps that the person may use with a guardian's approval, and those that they have decided on for a child. */
  childRequests: {
    id: string
    child: string
    organisation: string
    app: string
    state: 'requested' | 'approved' | 'refused' | 'withdrawn'
    scopes: string[]
    /** What the approval in force covers. */
    covered: string[]
    reason: string | null
    requestedAt: Time | null
    decidedAt: Time | null
    /** The person has decided. */
    own: boolean
  }[]
  /** Accounts of `LOGIN_ISSUER` that sign in as this person. */
  signInIdentities: { issuer: string; subject: string; createdAt: Time }[]
  /** Teams whose apps the person works on. */
  teams: { id: string; name: string; role: 'owner' | 'developer'; since: Time }[]
  /** To the person, or to an address that nobody else has, or sent by the person: those to others have no address here. */
  teamInvitations: {
    team: string
    role: 'owner' | 'developer'
    own: boolean
    expiresAt: Time
    acceptedAt: Time | null
  }[]
  /** For a team of their own, pending or refused. */
  teamRequests: {
    id: string
    name: string
    purpose: string
    state: 'requested' | 'refused'
    requestedAt: Time
    reason: string | null
    refusedAt: Time | null
  }[]
  /** The language and the types of the portal's mails that the person has chosen. */
  mailSettings: { language: 'en' | 'de'; off: string[] }[]
  /** To the person, or to an address that nobody else has, of the last three days. `about` is what the mail names. */
  mails: {
    id: string
    kind: string
    /** Null for one about a request for a team, or about a consent. */
    team: string | null
    language: 'en' | 'de' | 'fr' | 'it' | 'nl' | 'es'
    about: object
    createdAt: Time
    sent: boolean
  }[]
  /** What the person has changed in teams, and what others have changed about the person. */
  teamChanges: { team: string; own: boolean; action: string; target: string; at: Time }[]
  /** Changes whose events for apps are on their way, for a minute. */
  memberChanges: {
    client: string
    organisation: string
    kind: string
    result: string
    at: Time
    publishedAt: Time | null
  }[]
  /** The private entries of apps. `value` is the JSON text, byte for byte as the app stored it. */
  storage: { app: string; club: string; collection: string; key: string; value: string; updatedAt: Time }[]
  /** The shared entries that the person made, wrote last, or both. Their values are the club's. */
  sharedEntries: {
    app: string
    club: string
    collection: string
    key: string
    created: boolean
    updated: boolean
    updatedAt: Time
  }[]
  /** Writes of the last 24 hours that came with an `Idempotency-Key`. */
  storageRequests: { app: string; club: string; client: string; key: string; method: string; createdAt: Time }[]
}

type Lists = Omit<PersonalData, 'exportedAt' | 'profile'>

const fields = (columns: Record<string, string>) =>
  `json_build_object(${Object.entries(columns)
    .map(([name, column]) => `'${name}', ${column}`)
    .join(', ')})::text AS json`

const current = `"personId" = $1 AND ("leftAt" IS NULL OR "leftAt" > $2::timestamptz)`

/** Stores of the clubs that the person belongs or belonged to. */
const ownStores = `(SELECT "appId", "clubId" FROM "StorageUsage" JOIN "Membership" ON "organisationId" = "clubId"
      WHERE "personId" = $1 ORDER BY 1, 2) store`

export const profile = `SELECT ${fields({
  id: 'id',
  firstName: '"firstName"',
  lastName: '"lastName"',
  email: 'email',
  birthday: 'birthday',
  image: 'image',
  preferredLanguage: '"preferredLanguage"',
})} FROM "Person" WHERE id = $1`

/** Each list's SQL: the items of the person $1, at the time $2. */
export const lists: { readonly [Name in keyof Lists]: string } = {
  memberships: `SELECT ${fields({
    organisation: 'organisation.id',
    kind: 'kind',
    name: 'name',
    joinedAt: '"joinedAt"',
    leftAt: '"leftAt"',
    administrator: 'administrator',
  })} FROM "Membership" JOIN "Organisation" organisation ON organisation.id = "organisationId"
    WHERE "personId" = $1 ORDER BY organisation.id`,

  guardians: `SELECT ${fields({ child: '"childId"', guardian: '"guardianId"', until: 'until' })}
    FROM "Guardian" WHERE "childId" = $1 OR "guardianId" = $1 ORDER BY "childId", "guardianId"`,

  groups: `SELECT ${fields({ id: 'id', club: '"clubId"', name: 'name', role: 'role' })}
    FROM "GroupMembership" JOIN "Group" ON id = "groupId" WHERE "personId" = $1 ORDER BY id, role`,

  events: `SELECT ${fields({
    id: 'event.id',
    club: '"clubId"',
    title: 'title',
    start: '"start"',
    end: '"end"',
    location: 'location',
  })} FROM "Event" event JOIN "Membership" ON "organisationId" = "clubId" AND ${current}
    WHERE ${isPublished} AND (${isForClub()} OR EXISTS (SELECT FROM "EventGroup" JOIN "GroupMembership" own USING ("groupId")
        WHERE "eventId" = event.id AND own."personId" = $1))
    ORDER BY "start", "end", event.id`,

  trainingPlans: `SELECT ${fields({
    id: 'plan.id',
    club: '"clubId"',
    name: 'name',
    category: 'category',
    description: 'description',
    exercises: `(SELECT coalesce(json_agg(name ORDER BY position), '[]') FROM "Exercise" WHERE "planId" = plan.id)`,
    groups: 'own.groups',
  })} FROM "TrainingPlan" plan JOIN "Membership" ON "organisationId" = "clubId" AND ${current}
    CROSS JOIN LATERAL (SELECT json_agg(DISTINCT "groupId") AS groups
      FROM "PlanAssignment" JOIN "GroupMembership" own USING ("groupId")
      WHERE "planId" = plan.id AND own."personId" = $1 HAVING count(*) > 0) own
    ORDER BY name, plan.id`,

  competitionResults: `SELECT ${fields({
    id: 'result.id',
    competitionId: 'competition.id',
    competition: 'competition.name',
    disciplineId: 'discipline.id',
    discipline: 'discipline.name',
    place: 'place',
    score: 'score',
    timestamp: '"timestamp"',
  })} FROM "CompetitionResult" result JOIN "Competition" competition ON competition.id = "competitionId"
    JOIN "Discipline" discipline ON discipline.id = "disciplineId"
    WHERE "personId" = $1 ORDER BY "timestamp" DESC, result.id`,

  memberCards: `SELECT ${fields({
    serial: 'serial',
    club: '"clubId"',
    status: 'status',
    name: 'name',
    memberNumber: '"memberNumber"',
    departments: `coalesce(departments, '{}')`,
    validUntil: '"validUntil"',
    issuedAt: '"issuedAt"',
  })} FROM "MemberCard" WHERE "personId" = $1 ORDER BY "issuedAt" DESC, serial`,

  quizResults: `SELECT ${fields({
    id: 'result.id',
    quiz: 'quiz.id',
    title: 'title',
    score: 'score',
    passed: 'passed',
    reviewStatus: '"reviewStatus"',
    gradedQuestions: '"gradedQuestions"',
    threshold: 'result.threshold',
    submittedAt: '"submittedAt"',
    answers: `(SELECT coalesce(json_agg(json_build_object('question', question.id, 'text', question.text,
      'answer', value, 'correct', correct) ORDER BY position), '[]')
      FROM "Answer" answer JOIN "Question" question ON question."quizId" = answer."quizId" AND question.id = "questionId"
      WHERE "resultId" = result.id)`,
  })} FROM "QuizResult" result JOIN "Quiz" quiz ON quiz.id = "quizId" WHERE "personId" = $1
    ORDER BY "submittedAt", result.id`,

  lessonCompletions: `SELECT ${fields({ lesson: 'id', title: 'title', completedAt: '"completedAt"' })}
    FROM "LessonCompletion" JOIN "Lesson" ON id = "lessonId" WHERE "personId" = $1 ORDER BY "completedAt", id`,

  consents: `SELECT ${fields({
    client: 'client.id',
    name: 'client.name',
    organisation: '"organisationId"',
    scopes: 'consent.scopes',
    createdAt: '"createdAt"',
    withdrawnAt: '"withdrawnAt"',
    replayedAt: '"replayedAt"',
  })} FROM "Consent" consent JOIN "Client" client ON client.id = "clientId"
    WHERE "personId" = $1 ORDER BY "createdAt", consent.id`,

  dataRequests: `SELECT ${fields({
    id: 'id',
    requestedAt: '"requestedAt"',
    deadline: 'deadline',
    answeredAt: '"answeredAt"',
  })} FROM "DataRequest" WHERE "personId" = $1 ORDER BY id`,
  calendarAddresses: `SELECT ${fields({
    id: 'id',
    club: '"clubId"',
    client: '(SELECT "clientId" FROM "Consent" WHERE id = "consentId")',
    createdAt: '"createdAt"',
  })} FROM "CalendarFeed" WHERE "personId" = $1 ORDER BY "createdAt", id`,

  approvals: `SELECT ${fields({
    id: 'id',
    club: '"organisationId"',
    app: '"appId"',
    state: 'state',
    reason: 'reason',
    requestedAt: '"requestedAt"',
    decidedAt: '"decidedAt"',
  })} FROM "ClubApproval" WHERE "decidedBy" = $1 ORDER BY "decidedAt", id`,

  childRequests: `SELECT ${fields({
    id: 'id',
    child: '"childId"',
    organisation: '"organisationId"',
    app: '"appId"',
    state: 'state',
    scopes: 'scopes',
    covered: 'covered',
    reason: 'reason',
    requestedAt: '"requestedAt"',
    decidedAt: '"decidedAt"',
    own: '"decidedBy" IS NOT DISTINCT FROM $1',
  })} FROM "ChildRequest" WHERE "childId" = $1 OR "decidedBy" = $1 ORDER BY id`,

  signInIdentities: `SELECT ${fields({ issuer: 'issuer', subject: 'subject', createdAt: '"createdAt"' })}
    FROM "LoginIdentity" WHERE "personId" = $1 ORDER BY issuer, subject`,

  teams: `SELECT ${fields({ id: 'team.id', name: 'name', role: 'role', since: 'since' })}
    FROM "TeamMember" JOIN "Team" team ON team.id = "teamId" WHERE "personId" = $1 ORDER BY team.id`,

  teamInvitations: `SELECT ${fields({
    team: '"teamId"',
    role: 'role',
    own: `(invitation."personId" = $1 OR invitation."personId" IS NULL AND invitation.email = person.email) IS TRUE`,
    expiresAt: '"expiresAt"',
    acceptedAt: '"acceptedAt"',
  })} FROM (SELECT ${soleMailboxSql('one')} AS email FROM "Person" one WHERE id = $1) person, LATERAL (
      SELECT * FROM "TeamInvitation" WHERE email = person.email AND "personId" IS NULL
      UNION SELECT * FROM "TeamInvitation" WHERE "personId" = $1
      UNION SELECT * FROM "TeamInvitation" WHERE "invitedBy" = $1) invitation
    ORDER BY "expiresAt", invitation.id`,

  teamRequests: `SELECT ${fields({
    id: 'id',
    name: 'name',
    purpose: 'purpose',
    state: 'state',
    requestedAt: '"requestedAt"',
    reason: 'reason',
    refusedAt: '"refusedAt"',
  })} FROM "TeamRequest" WHERE "personId" = $1`,

  mailSettings: `SELECT ${fields({ language: 'language', off: `coalesce(off, '{}')` })} FROM "MailSettings" WHERE "personId" = $1`,

  mails: `SELECT ${fields({
    id: 'id',
    kind: 'kind',
    team: '"teamId"',
    language: 'language',
    about: 'about',
    createdAt: '"createdAt"',
    sent: '"nextAt" IS NULL',
  })} FROM (SELECT ${soleMailboxSql('one')} AS email FROM "Person" one WHERE id = $1) person, LATERAL (
      SELECT * FROM "Mail" WHERE "Mail"."personId" = $1 UNION ALL SELECT * FROM "Mail" WHERE "administratorId" = $1
      UNION ALL SELECT * FROM "Mail" WHERE "Mail".email = person.email) mail
    ORDER BY "createdAt", id`,

  teamChanges: `SELECT ${fields({
    team: '"teamId"',
    own: '"personId" IS NOT DISTINCT FROM $1',
    action: 'action',
    target: 'target',
    at: 'at',
  })} FROM "AuditEntry" WHERE id = ANY (ARRAY(SELECT id FROM "AuditEntry" WHERE "personId" = $1
      UNION SELECT id FROM "AuditEntry" WHERE target = $1 AND action LIKE 'person.%')) ORDER BY id`,

  memberChanges: `SELECT ${fields({
    client: '"clientId"',
    organisation: '"organisationId"',
    kind: 'kind',
    result: '"resultId"',
    at: 'at',
    publishedAt: '"publishedAt"',
  })}
    FROM "MemberChange" WHERE "personId" = $1 ORDER BY id`,

  // Store by store, each in the order of the primary key: nothing has to be sorted with its values.
  storage: `SELECT ${fields({
    app: '"appId"',
    club: '"clubId"',
    collection: 'collection',
    key: 'key',
    value: 'value',
    updatedAt: '"updatedAt"',
  })} FROM (SELECT DISTINCT "appId", "clubId" FROM "StorageEntry" WHERE "memberId" = $1 ORDER BY 1, 2) store
    CROSS JOIN LATERAL (SELECT collection, key, value, "updatedAt" FROM "StorageEntry" entry
      WHERE entry."appId" = store."appId" AND entry."clubId" = store."clubId" AND owner = $1
      ORDER BY collection, key) entry`,

  sharedEntries: `SELECT ${fields({
    app: '"appId"',
    club: '"clubId"',
    collection: 'collection',
    key: 'key',
    created: '"createdBy" IS NOT DISTINCT FROM $1',
    updated: '"updatedBy" IS NOT DISTINCT FROM $1',
    updatedAt: '"updatedAt"',
  })} FROM ${ownStores}
    CROSS JOIN LATERAL (SELECT collection, key, "createdBy", "updatedBy", "updatedAt" FROM "StorageEntry" entry
      WHERE entry."appId" = store."appId" AND entry."clubId" = store."clubId" AND owner = '' AND $1 IN ("createdBy", "updatedBy")
      ORDER BY collection, key) entry`,

  storageRequests: `SELECT ${fields({
    app: '"appId"',
    club: '"clubId"',
    client: '"clientId"',
    key: 'key',
    method: 'method',
    createdAt: '"createdAt"',
  })} FROM ${ownStores}
    CROSS JOIN LATERAL (SELECT "clientId", key, method, "createdAt" FROM "StorageRequest" request
      WHERE request."appId" = store."appId" AND request."clubId" = store."clubId" AND "memberId" = $1
      ORDER BY "createdAt", key) request`,
}
