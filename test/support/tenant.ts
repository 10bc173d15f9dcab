import { randomBytes } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'
import type { Core } from '../../routers/kernel/context.ts'

/** An identifier that no other test has. */
export const id = (name: string) => `${name}-${randomBytes(6).toString('hex')}`

export type Ids = ReturnType<typeof newIds>

export const newIds = () => ({
  club: id('club'),
  academy: id('academy'),
  provider: id('provider'),
  team: id('team'),
  app: id('app'),
  client: id('client'),
  platform: id('platform'),
  member: id('member'),
})

/** Creates a club, an academy and a provider with one member, and a team with an app and two clients. */
export async function createTenant(db: Database) {
  const ids = newIds()
  const { club, academy, provider, team, app, client, platform, member } = ids
  // One statement in place of seven of Prisma, which take 20 ms: every second test has a tenant of its own.
  await db.$executeRaw`
    WITH organisations AS (
      INSERT INTO "Organisation" (id, kind, name)
      VALUES (${club}, 'club', 'Club'), (${academy}, 'academy', 'Academy'), (${provider}, 'provider', 'Provider')
    ), person AS (
      INSERT INTO "Person" (id, "firstName", "lastName", email) VALUES (${member}, 'Mia', 'Member', 'mia@example.org')
    ), memberships AS (
      INSERT INTO "Membership" ("organisationId", "personId")
      SELECT unnest(${[club, academy, provider]}::text[]), ${member}
    ), team AS (
      INSERT INTO "Team" (id, name, level) VALUES (${team}, 'Team', 'developer')
    ), app AS (
      INSERT INTO "App" (id, name, "teamId", "providerId") VALUES (${app}, 'App', ${team}, ${provider})
    )
    INSERT INTO "Client" (id, name, "teamId", "appId", environment)
    VALUES (${client}, 'Client', ${team}, ${app}, 'production'), (${platform}, 'Platform', NULL, NULL, 'production')`
  return ids
}

const passed = {
  score: 100,
  passed: true,
  reviewStatus: 'passed' as const,
  gradedQuestions: 1,
  threshold: 50,
  submittedAt: new Date('2026-01-01T00:00:00Z'),
}

/** A result of the member's, as a row of a quiz of the academy. */
export const makeResult = ({ academy, member }: Ids) => ({ id: `result-${academy}`, personId: member, ...passed })

/** Releases a quiz of the academy with one question, q1, whose solution is Yes, and with a result of the member's. */
export async function createQuiz(db: Database, ids: Ids) {
  const { academy } = ids
  await db.quiz.create({
    data: {
      id: `quiz-${academy}`,
      academyId: academy,
      title: 'Quiz',
      threshold: 50,
      state: 'released',
      questions: {
        create: { id: 'q1', position: 1, type: 'single', text: '?', options: ['Yes', 'No'], solution: ['Yes'] },
      },
      results: { create: makeResult(ids) },
    },
  })
}

/** Issues a card of the club to the member, which is valid for years. */
export const createCard = ({ db, ids: { club, member } }: { db: Database; ids: Ids }) =>
  db.memberCard.create({
    data: {
      serial: id('card'),
      clubId: club,
      personId: member,
      status: 'valid',
      name: 'Mia Member',
      memberNumber: '1',
      departments: [],
      validUntil: new Date('2999-12-31'),
    },
  })

/** Stores an address of the app, as it was where it has been removed or changed; returns its id. */
export async function putAddress({ db, cipher }: Core, appId: string, id = `address-${appId}`) {
  const secret = cipher.encrypt('s', `Subscription.secret:${id}`)
  const own = { appId, subscriber: 'address', address: true, url: 'https://hooks.example', types: [], secret }
  await db.subscription.upsert({ where: { id }, create: { id, ...own }, update: own })
  return id
}
