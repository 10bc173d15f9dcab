import { z } from 'zod'
import type { Database } from '../../../prisma/client.ts'
import { int, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { identityScopes } from '../../kernel/identity-scopes.ts'
import { withLabels } from '../../kernel/labels.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { memberScopesAt } from '../../kernel/scopes.ts'
import { unix } from '../../kernel/time.ts'
import { router } from '../../kernel/trpc.ts'
import type { Caller } from '../access/roles.ts'
import { countTeam } from '../access/roles.ts'
import { logoVersions } from '../apps/logo.ts'
import { removeTeam, restoreTeam, teamImpact } from '../deletion/team.ts'
import { appColumns, byName, clientColumns, toApp, toClient } from '../shared/mappers.ts'
import { appOutput, clientOutput, idOr, named, personOutput, teamSummary } from '../shared/schemas.ts'
import { invitations, listInvitations, listTeamPeople, listTestMembers, testMembers } from './list.ts'
import { create, requestTeam, signup, withdrawRequest } from './signup.ts'

const OF_PERSON = `SELECT id, name, level, role, ${unix('"endsAt"')} AS "endsAt"
      FROM "Team" JOIN "TeamMember" ON id = "teamId" WHERE "personId" = $person`
const columns = {
  id: text,
  name: text,
  level: oneOf('hobby', 'developer'),
  role: oneOf('owner', 'developer'),
  endsAt: nullable(int),
}

const statements = {
  all: statement('teams_of_person', `${OF_PERSON} ORDER BY name, id`, { person: text }, columns),
  one: statement('team_of_person', `${OF_PERSON} AND id = $team`, { person: text, team: text }, columns),
}

const list = internal('dev:read', teamPeople, { summary: 'The teams of the person' })
  .output(z.object({ items: z.array(teamSummary) }))
  .query(async ({ ctx: { core, person } }) => ({ items: await core.db.execute(statements.all, { person }) }))

const teamFacts = teamSummary.extend({
  scopes: z.array(z.string()).meta({ description: 'The scopes that its level allows' }),
})

const summary = internal('dev:read', teamPeople, {
  summary: 'A team, without its people, apps and clients',
  fails: ['teamUnknown'],
})
  .input(z.object({ team: idOr('teamUnknown') }))
  .output(teamFacts)
  .query(({ ctx, input }) => readFacts(ctx, input.team))

async function readFacts(ctx: Caller, id: string) {
  const [team] = await ctx.core.db.execute(statements.one, { person: ctx.person, team: id })
  if (!team) throw errors.teamUnknown()
  await countTeam(ctx, id)
  return { ...team, scopes: [...memberScopesAt(team.level), ...identityScopes] }
}

const MOST = 200

const get = internal('dev:read', teamPeople, {
  summary: `A team with its people, apps and clients, at most ${MOST} of each: people.list, apps.list and clients.list have all`,
  fails: ['teamUnknown'],
})
  .input(z.object({ team: idOr('teamUnknown') }))
  .output(
    teamFacts.extend({
      people: z.array(personOutput),
      invitations,
      apps: z.array(appOutput),
      clients: z.array(clientOutput),
      testMembers,
      providers: z.array(named).meta({ description: 'The providers that an app can belong to' }),
    }),
  )
  .query(async ({ ctx, input: { team } }) => {
    const facts = await readFacts(ctx, team)
    const { db, now } = ctx.core
    const where = { teamId: team }
    const [people, invitations, apps, clients, testMembers, providers] = await Promise.all([
      listTeamPeople(db, team, { take: MOST }),
      listInvitations(db, team, now()),
      listApps(db, team),
      db.client.findMany({ where, select: clientColumns(now()), orderBy: byName, take: MOST }),
      listTestMembers(db, team),
      db.organisation.findMany({
        where: { kind: 'provider', testTeamId: null },
        select: { id: true, name: true },
        orderBy: byName,
        take: MOST,
      }),
    ])
    return {
      ...facts,
      people,
      invitations,
      apps,
      clients: clients.map(toClient),
      testMembers,
      providers: withLabels(providers),
    }
  })

async function listApps(db: Database, teamId: string) {
  const rows = await db.app.findMany({ where: { teamId }, select: appColumns, orderBy: byName, take: MOST })
  const logos = await logoVersions(
    db,
    rows.map(({ id }) => id),
  )
  return rows.map((app) => toApp(app, logos.get(app.id) ?? null))
}

export const teams = router({
  list,
  summary,
  get,
  signup,
  create,
  request: requestTeam,
  withdrawRequest,
  impact: teamImpact,
  remove: removeTeam,
  restore: restoreTeam,
})
