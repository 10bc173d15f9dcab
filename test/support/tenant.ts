import { randomBytes } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'

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
  await db.organisation.createMany({
    data: [
      { id: club, kind: 'club', name: 'Club' },
      { id: academy, kind: 'academy', name: 'Academy' },
      { id: provider, kind: 'provider', name: 'Provider' },
    ],
  })
  await db.person.create({ data: { id: member, firstName: 'Mia', lastName: 'Member', email: 'mia@example.org' } })
  await db.membership.createMany({
    data: [club, academy, provider].map((organisationId) => ({ organisationId, personId: member })),
  })
  await db.team.createMany({ data: [{ id: team, name: 'Team', level: 'developer' }] })
  await db.app.createMany({ data: [{ id: app, name: 'App', teamId: team, providerId: provider }] })
  await db.client.createMany({
    data: [
      { id: client, name: 'Client', teamId: team, appId: app, environment: 'production' },
      { id: platform, name: 'Platform', environment: 'production' },
    ],
  })
  return ids
}

/** Releases a quiz of the academy with one question, q1, whose solution is Yes. */
export async function createQuiz(db: Database, { academy }: Ids) {
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
    },
  })
}
