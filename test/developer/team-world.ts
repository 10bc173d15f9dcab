import type { Database } from '../../prisma/client.ts'
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
    stored: () => readTeams(db, [owner, stranger]),
  }
}

/** What `stored` reads: the table, which of its rows, and their order. */
const KEPT = {
  teams: ['Team', 'id = ANY(ids)', 'id'],
  people: ['TeamMember', '"teamId" = ANY(ids)', '"teamId", "personId"'],
  invitations: ['TeamInvitation', '"teamId" = ANY(ids)', 'id'],
  rules: ['CollectionRule', '"appId" = ANY(apps)', '"appId", collection'],
  apps: ['App', 'id = ANY(apps)', 'id'],
  clients: ['Client', 'id = ANY(clients)', 'id'],
  secrets: ['ClientSecret', '"clientId" = ANY(clients)', 'id'],
  consents: ['Consent', '"clientId" = ANY(clients)', 'id'],
  audit: ['AuditEntry', '"teamId" = ANY(ids)', 'id'],
  testClubs: ['Organisation', '"testTeamId" = ANY(ids)', 'id'],
} as const

const ROWS_OF_TEAMS = `
  WITH team AS (SELECT array_agg(DISTINCT "teamId") AS ids FROM "TeamMember" WHERE "personId" = ANY($1)),
  parts AS (
    SELECT ids, ARRAY(SELECT id FROM "App" WHERE "teamId" = ANY(ids)) AS apps,
      ARRAY(SELECT id FROM "Client" WHERE "teamId" = ANY(ids)) AS clients
    FROM team
  )
  SELECT ${Object.entries(KEPT).map(
    ([name, [table, where, order]]) =>
      `(SELECT coalesce(json_agg(one ORDER BY ${order}), '[]') FROM "${table}" one WHERE ${where}) AS "${name}"`,
  )} FROM parts`

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
type Kept = Record<keyof typeof KEPT, any[]>

/** The rows of these people's teams, as JSON. One statement: refusals compare them often, and ten of Prisma's take 8 ms. */
async function readTeams(db: Database, people: readonly string[]) {
  const [stored] = await db.$queryRawUnsafe<Kept[]>(ROWS_OF_TEAMS, people)
  return stored!
}
