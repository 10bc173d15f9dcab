import { createHash, randomUUID } from 'node:crypto'
import type { PersonalData } from '../../routers/personal-data/sections.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'

const time = new Date('2025-05-05T12:00:00.5Z')
/** The same, as an export has it. */
const AT = '2025-05-05T12:00:00.5+00:00'

/** Creates a member of the world's club, academy and provider, about whom there is something in every table. */
export async function mintPerson({ db, ids }: World) {
  const { club, academy, provider, app, client } = ids
  const personId = id('person')
  const own = (name: string) => `${name}-${personId}`
  const email = `${personId}@Example.org`
  await db.person.create({
    data: {
      id: personId,
      firstName: 'Änne',
      lastName: 'O"Neil',
      email,
      birthday: new Date('1991-04-17'),
      preferredLanguage: 'fr',
    },
  })
  const organisations = [club, academy, provider]
  await db.membership.createMany({
    data: organisations.map((organisationId) => ({ organisationId, personId, joinedAt: time })),
  })
  const left = id('left')
  await db.organisation.create({ data: { id: left, kind: 'club', name: 'Left' } })
  await db.membership.create({
    data: { organisationId: left, personId, joinedAt: time, leftAt: new Date(time.getTime() - 1000) },
  })
  const people = { create: [{ personId, role: 'member' as const }] }
  await db.group.create({ data: { id: own('group'), clubId: club, name: 'Youth', people } })
  await db.group.create({ data: { id: own('left'), clubId: left, name: 'Former', people } })
  const event = { title: 'Training', start: time, end: time, location: 'Hall', state: 'published' as const }
  for (const [name, clubId] of [
    ['group', club],
    ['left', left],
  ] as const) {
    const groups = { create: { groupId: own(name) } }
    await db.event.create({ data: { id: own(name), clubId, ...event, groups } })
    await db.trainingPlan.create({
      data: {
        id: own(name),
        clubId,
        name: 'Plan',
        category: 'Strength',
        description: '',
        assignments: { create: { groupId: own(name) } },
        exercises: {
          create: [
            { position: 2, name: 'Plank' },
            { position: 1, name: 'Squats' },
          ],
        },
      },
    })
  }
  await db.competition.create({ data: { id: own('cup'), hostId: club, name: 'Cup' } })
  await db.discipline.create({ data: { id: own('100m'), name: '100 m' } })
  const contest = { competitionId: own('cup'), disciplineId: own('100m'), personId, score: 9.5, timestamp: time }
  await db.competitionResult.create({ data: { id: own('a'), ...contest, place: 1 } })
  await db.competitionResult.create({ data: { id: own('b'), ...contest, place: null } })
  await db.memberCard.create({
    data: {
      serial: own('card'),
      clubId: club,
      personId,
      status: 'valid',
      name: 'Änne',
      memberNumber: '7',
      departments: ['Rowing'],
      issuedAt: time,
    },
  })
  await db.lesson.create({
    data: {
      id: own('lesson'),
      academyId: academy,
      title: 'L',
      completions: { create: { personId, completedAt: time } },
    },
  })
  const questions = {
    create: [
      { id: 'q1', position: 1, type: 'text' as const, text: '?' },
      { id: 'q2', position: 0, type: 'text' as const, text: '!' },
    ],
  }
  await db.quiz.create({ data: { id: own('quiz'), academyId: academy, title: 'Quiz', threshold: 50, questions } })
  const answers = [
    { quizId: own('quiz'), questionId: 'q1', value: '"\\u00e4"', correct: true },
    { quizId: own('quiz'), questionId: 'q2' },
  ]
  const grades = {
    score: 100,
    passed: false,
    reviewStatus: 'pending_review' as const,
    gradedQuestions: 1,
    threshold: 50,
  }
  await db.quizResult.create({
    data: {
      id: own('result'),
      quizId: own('quiz'),
      personId,
      ...grades,
      submittedAt: time,
      answers: { createMany: { data: answers } },
    },
  })
  await db.idempotencyRecord.create({
    data: {
      clientId: client,
      personId,
      organisationId: academy,
      quizId: own('quiz'),
      key: 'k',
      bodyHash: '',
      answer: '{}',
      createdAt: time,
    },
  })
  const grant = own('grant')
  await db.consent.create({
    data: {
      id: grant,
      personId,
      organisationId: club,
      clientId: client,
      scopes: ['svc.me.profile:read'],
      createdAt: time,
      withdrawnAt: time,
      replayedAt: time,
    },
  })
  const asked = { personId, requestedAt: time, deadline: new Date(time.getTime() + 1000) }
  await db.dataRequest.create({ data: { ...asked, id: own('data'), answeredAt: time }, select: { id: true } })
  await db.calendarFeed.create({
    data: {
      id: own('feed'),
      hash: createHash('sha256').update(own('feed')).digest('base64url'),
      personId,
      clubId: club,
      consentId: grant,
      createdAt: time,
    },
    select: { id: true },
  })
  await db.clubApproval.create({
    data: {
      id: own('approval'),
      organisationId: left,
      appId: app,
      state: 'refused',
      reason: 'No need.',
      decidedAt: time,
      decidedBy: personId,
    },
    select: { id: true },
  })
  // A child with a guardian, and a guardian of another child.
  const relative = id('relative')
  await db.person.create({ data: { id: relative, firstName: 'R', lastName: 'R', email: '' } })
  await db.guardian.createMany({
    data: [
      { childId: personId, guardianId: relative },
      { childId: relative, guardianId: personId, until: new Date('2030-01-31') },
    ],
  })
  const request = { organisationId: club, appId: app, scopes: ['svc.me.profile:read'], requestedAt: time }
  await db.childRequest.createMany({
    data: [
      { ...request, id: own('r1'), childId: personId, state: 'requested' },
      {
        ...request,
        id: own('r2'),
        childId: relative,
        state: 'approved',
        covered: request.scopes,
        decidedAt: time,
        decidedBy: personId,
      },
    ],
  })
  await db.memberChange.create({
    data: { clientId: client, organisationId: club, personId, kind: 'profile', at: time },
    select: { id: true },
  })
  // Its only owner.
  const teamId = own('team')
  await db.team.create({ data: { id: teamId, name: 'Team', level: 'hobby' } })
  await db.teamMember.create({ data: { teamId, personId, role: 'owner', since: time } })
  const invitation = { teamId, role: 'developer' as const, expiresAt: time }
  await db.teamInvitation.createMany({
    data: [
      { ...invitation, id: own('i1'), email: email.toLowerCase(), invitedBy: null },
      { ...invitation, id: own('i2'), email: 'other@example.org', invitedBy: personId },
      { ...invitation, id: own('i3'), email: 'third@example.org', invitedBy: personId, acceptedAt: time },
    ],
  })
  await db.teamRequest.create({
    data: {
      id: own('request'),
      personId,
      name: 'Sailors',
      purpose: 'Results.',
      state: 'refused',
      requestedAt: time,
      reason: 'No need.',
      refusedAt: time,
    },
    select: { id: true },
  })
  await db.mailSettings.create({ data: { personId, language: 'de', off: ['webhookFailing'] } })
  const mail = { teamId, language: 'de' as const, createdAt: time, about: { name: 'App' } }
  await db.mail.createMany({
    data: [
      { ...mail, id: own('m1'), kind: 'requestReceived', personId },
      { ...mail, id: own('m2'), kind: 'invitation', email: email.toLowerCase(), invitationId: own('i1'), nextAt: time },
      {
        ...mail,
        id: own('m4'),
        kind: 'approvalRequested',
        administratorId: personId,
        approvalId: own('approval'),
        askedBy: personId,
      },
      { ...mail, id: own('m5'), kind: 'accessReplayed', teamId: null, personId, consentId: grant },
      { ...mail, id: own('m6'), kind: 'guardianAsked', administratorId: personId, childRequestId: own('r2') },
      { ...mail, id: own('m3'), kind: 'invitation', email: 'other@example.org', invitationId: own('i2') },
    ],
  })
  await db.auditEntry.create({ data: { teamId, personId, action: 'app.create', target: 'a_1', at: time } })
  await db.loginIdentity.create({
    data: { issuer: 'https://id.example.org', subject: own('s'), personId, createdAt: time },
  })
  await db.loginCode.create({
    data: {
      interaction: randomUUID(),
      email: email.toLowerCase(),
      hash: '',
      sender: '',
      sentAt: time,
      expiresAt: time,
    },
  })
  await db.oauthRecord.createMany({
    data: [
      { model: 'Session', id: own('session'), payload: { accountId: personId }, uid: own('session') },
      { model: 'Interaction', id: own('page'), payload: { session: { accountId: personId } } },
      { model: 'Interaction', id: own('signed-in'), payload: { result: { login: { accountId: personId } } } },
      { model: 'Grant', id: grant, payload: { accountId: personId } },
      { model: 'RefreshToken', id: own('refresh'), payload: { accountId: personId }, grantId: grant },
      { model: 'AuthorizationCode', id: own('code'), payload: { accountId: personId }, grantId: grant },
      // Its client was removed.
      { model: 'Grant', id: own('orphan'), payload: { accountId: personId } },
      // Names the person who was to sign in.
      { model: 'DeviceCode', id: own('device'), payload: { params: { login_hint: ` ${email.toUpperCase()}` } } },
      { model: 'DeviceCode', id: own('by-id'), payload: { params: { login_hint: personId } } },
      { model: 'Interaction', id: own('other'), payload: { params: { state: `for ${email}` } } },
    ],
  })
  await addEntry(db, { app, club, owner: personId, key: 'own', value: '{"b":1,"a":1.0,"a":2}' })
  await db.storageRequest.create({
    data: {
      appId: app,
      clubId: club,
      memberId: personId,
      clientId: client,
      key: 'k',
      method: 'PUT',
      used: 1,
      number: 1,
      hash: new Uint8Array(32),
      outcomes: ['stored'],
      versions: [randomUUID()],
      createdAt: time,
    },
  })
  const shared = id('shared')
  await addEntry(db, { app, club, owner: '', key: shared, value: '1', writer: personId })
  return { personId, own, exported: buildExport({ ids, personId, relative, left, shared, own }) }
}

interface Person {
  ids: World['ids']
  personId: string
  relative: string
  left: string
  shared: string
  own: (name: string) => string
}

/** The export of that person. */
function buildExport({ ids, personId, relative, left, shared, own }: Person): Omit<PersonalData, 'exportedAt'> {
  const membership = (organisation: string, recordType: 'club' | 'academy' | 'provider', name: string) => ({
    organisation,
    kind: recordType,
    name,
    joinedAt: AT,
    leftAt: null,
    administrator: false,
  })
  const memberships = [
    membership(ids.club, 'club', 'Club'),
    membership(ids.academy, 'academy', 'Academy'),
    membership(ids.provider, 'provider', 'Provider'),
    { ...membership(left, 'club', 'Left'), leftAt: '2025-05-05T11:59:59.5+00:00' },
  ]
  const request = {
    organisation: ids.club,
    app: ids.app,
    scopes: ['svc.me.profile:read'],
    covered: [],
    reason: null,
    requestedAt: AT,
    decidedAt: null,
    own: false,
  }
  const contest = {
    competitionId: own('cup'),
    competition: 'Cup',
    disciplineId: own('100m'),
    discipline: '100 m',
    score: 9.5,
    timestamp: AT,
  }
  return {
    profile: {
      id: personId,
      firstName: 'Änne',
      lastName: 'O"Neil',
      email: `${personId}@Example.org`,
      birthday: '1991-04-17',
      image: '',
      preferredLanguage: 'fr',
    },
    memberships: memberships.sort((a, b) => (a.organisation < b.organisation ? -1 : 1)),
    guardians: [
      { child: personId, guardian: relative, until: null },
      { child: relative, guardian: personId, until: '2030-01-31' },
    ],
    groups: [
      { id: own('group'), club: ids.club, name: 'Youth', role: 'member' },
      { id: own('left'), club: left, name: 'Former', role: 'member' },
    ],
    events: [{ id: own('group'), club: ids.club, title: 'Training', start: AT, end: AT, location: 'Hall' }],
    trainingPlans: [
      {
        id: own('group'),
        club: ids.club,
        name: 'Plan',
        category: 'Strength',
        description: '',
        exercises: ['Squats', 'Plank'],
        groups: [own('group')],
      },
    ],
    competitionResults: [
      { id: own('a'), ...contest, place: 1 },
      { id: own('b'), ...contest, place: null },
    ],
    memberCards: [
      {
        serial: own('card'),
        club: ids.club,
        status: 'valid',
        name: 'Änne',
        memberNumber: '7',
        departments: ['Rowing'],
        validUntil: null,
        issuedAt: AT,
      },
    ],
    quizResults: [
      {
        id: own('result'),
        quiz: own('quiz'),
        title: 'Quiz',
        score: 100,
        passed: false,
        reviewStatus: 'pending_review',
        gradedQuestions: 1,
        threshold: 50,
        submittedAt: AT,
        answers: [
          { question: 'q2', text: '!', answer: null, correct: null },
          { question: 'q1', text: '?', answer: '"\\u00e4"', correct: true },
        ],
      },
    ],
    lessonCompletions: [{ lesson: own('lesson'), title: 'L', completedAt: AT }],
    consents: [
      {
        client: ids.client,
        name: 'Client',
        organisation: ids.club,
        scopes: ['svc.me.profile:read'],
        createdAt: AT,
        withdrawnAt: AT,
        replayedAt: AT,
      },
    ],
    dataRequests: [{ id: own('data'), requestedAt: AT, deadline: '2025-05-05T12:00:01.5+00:00', answeredAt: AT }],
    calendarAddresses: [{ id: own('feed'), club: ids.club, client: ids.client, createdAt: AT }],
    approvals: [
      {
        id: own('approval'),
        club: left,
        app: ids.app,
        state: 'refused',
        reason: 'No need.',
        requestedAt: null,
        decidedAt: AT,
      },
    ],
    childRequests: [
      { ...request, id: own('r1'), child: personId, state: 'requested' },
      {
        ...request,
        id: own('r2'),
        child: relative,
        state: 'approved',
        covered: request.scopes,
        decidedAt: AT,
        own: true,
      },
    ],
    signInIdentities: [{ issuer: 'https://id.example.org', subject: own('s'), createdAt: AT }],
    teams: [{ id: own('team'), name: 'Team', role: 'owner', since: AT }],
    teamInvitations: [
      { team: own('team'), role: 'developer', own: true, expiresAt: AT, acceptedAt: null },
      { team: own('team'), role: 'developer', own: false, expiresAt: AT, acceptedAt: null },
      { team: own('team'), role: 'developer', own: false, expiresAt: AT, acceptedAt: AT },
    ],
    teamRequests: [
      {
        id: own('request'),
        name: 'Sailors',
        purpose: 'Results.',
        state: 'refused',
        requestedAt: AT,
        reason: 'No need.',
        refusedAt: AT,
      },
    ],
    mailSettings: [{ language: 'de', off: ['webhookFailing'] }],
    mails: (['requestReceived', 'invitation', 'approvalRequested', 'accessReplayed', 'guardianAsked'] as const).map(
      (recordType, n) => ({
        id: own(`m${[1, 2, 4, 5, 6][n]}`),
        kind: recordType,
        team: recordType === 'accessReplayed' ? null : own('team'),
        language: 'de',
        about: { name: 'App' },
        createdAt: AT,
        sent: n !== 1,
      }),
    ),
    teamChanges: [{ team: own('team'), own: true, action: 'app.create', target: 'a_1', at: AT }],
    memberChanges: [
      { client: ids.client, organisation: ids.club, kind: 'profile', result: '', at: AT, publishedAt: null },
    ],
    storage: [
      {
        app: ids.app,
        club: ids.club,
        collection: 'c',
        key: 'own',
        value: '{"b":1,"a":1.0,"a":2}',
        updatedAt: '2025-05-05T12:00:00+00:00',
      },
    ],
    sharedEntries: [
      {
        app: ids.app,
        club: ids.club,
        collection: 'c',
        key: shared,
        created: true,
        updated: true,
        updatedAt: '2025-05-05T12:00:00+00:00',
      },
    ],
    storageRequests: [{ app: ids.app, club: ids.club, client: ids.client, key: 'k', method: 'PUT', createdAt: AT }],
  }
}

interface Entry {
  app: string
  club: string
  owner: string
  key: string
  value: string
  /** The member who writes. */
  writer?: string
}

/** Stores an entry as the service does, under the collection `c`. */
export const addEntry = (db: World['db'], { app, club, owner, key, value, writer }: Entry) =>
  db.$executeRaw`SELECT FROM storage_write(${app}, ${club}, ${owner}, 'c', ${key}, ${value}, gen_random_uuid(),
    '2025-05-05T12:00:00Z'::timestamptz, ${BigInt(1e9)}::int8, null, null, ${writer ?? null}, false)`
