import { asPlatform } from '../support/platform.ts'
import { startedAround } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

export type TeamWorld = Awaited<ReturnType<typeof startTeamWorld>>

export const redirect = 'https://app.example/callback'
export const profileRead = 'svc.me.profile:read'
export const eventsRead = 'svc.me.events:read'

/** A service with a team that has an owner and a developer, and with a person of another team. */
export async function startTeamWorld(options: Parameters<typeof startWorld>[0] = {}) {
  const world = await startWorld(options)
  return { world, ...(await addPeople(world)) }
}

/** One for all tests of a file. */
export const teamWorld = (...options: Parameters<typeof startTeamWorld>) =>
  startedAround(() => startTeamWorld(...options))

/** Gives the tenant's team people. */
export async function addPeople(world: World) {
  const { db, ids } = world
  const [owner, colleague, stranger, strangers] = [id('owner'), id('colleague'), id('stranger'), id('team')]
  await db.person.createMany({
    data: [owner, colleague, stranger].map((one) => ({
      id: one,
      firstName: 'Dev',
      lastName: one.split('-')[0]!,
      email: `${one}@example.org`,
    })),
  })
  await db.team.create({ data: { id: strangers, name: 'Strangers', level: 'hobby' } })
  await db.teamMember.createMany({
    data: [
      { teamId: ids.team, personId: owner, role: 'owner' },
      { teamId: ids.team, personId: colleague, role: 'developer' },
      { teamId: strangers, personId: stranger, role: 'owner' },
    ],
  })
  const as = (member: string) => asPlatform(world, { member }).developer
  return {
    owner,
    colleague,
    stranger,
    strangers,
    as,
    /** A test client of the tenant's app. */
    sandbox: (more: object = {}) =>
      as(owner).clients.create({
        app: ids.app,
        name: 'Sandbox',
        type: 'web',
        redirectUris: [redirect],
        scopes: [profileRead],
        ...more,
      }),
    /** A client that members use. */
    async production(more: object = {}) {
      const { id: sandbox, scopes } = await as(owner).clients.create({
        app: ids.app,
        name: 'Sandbox',
        type: 'web',
        redirectUris: [redirect],
        scopes: [profileRead],
        ...more,
      })
      const purpose = Object.fromEntries(scopes.map((scope) => [scope, 'It greets the member.']))
      const { id: client } = await as(owner).clients.requestProduction({ client: sandbox, purpose })
      await db.client.update({ where: { id: client }, data: { state: 'active', requestedAt: null } })
      return client
    },
    /** Everything that a refusal could have changed in the teams of these people. */
    stored: async () => {
      const team = { people: { some: { personId: { in: [owner, stranger] } } } }
      const where = { team }
      return {
        teams: await db.team.findMany({ where: team, orderBy: { id: 'asc' } }),
        people: await db.teamMember.findMany({ where, orderBy: [{ teamId: 'asc' }, { personId: 'asc' }] }),
        invitations: await db.teamInvitation.findMany({ where, orderBy: { id: 'asc' } }),
        rules: await db.collectionRule.findMany({ where: { app: where }, orderBy: { collection: 'asc' } }),
        apps: await db.app.findMany({ where, orderBy: { id: 'asc' } }),
        clients: await db.client.findMany({ where, orderBy: { id: 'asc' } }),
        secrets: await db.clientSecret.findMany({ where: { client: where }, orderBy: { id: 'asc' } }),
        consents: await db.consent.findMany({ where: { client: where }, orderBy: { id: 'asc' } }),
        audit: await db.auditEntry.findMany({ where, orderBy: { id: 'asc' } }),
        organisations: await db.organisation.count({ where: { testTeam: team } }),
      }
    },
  }
}
