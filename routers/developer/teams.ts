import { z } from 'zod'
import { internal } from '../endpoint.ts'
import { logoVersions } from '../logo-versions.ts'
import { teamPeople } from '../policies.ts'
import { memberScopesAt } from '../scopes.ts'
import { toUnix } from '../time.ts'
import { router } from '../trpc.ts'
import { fullName, namesOf } from './names.ts'
import { appColumns, clientColumns, memberColumns, toApp, toClient, toPerson } from './rows.ts'
import { appOutput, clientOutput, idOr, invitationOutput, personOutput, teamSummary, testMember } from './shapes.ts'
import { roleIn } from './team-of.ts'

const list = internal('dev:read', teamPeople, { summary: 'The teams of the person' })
  .output(z.object({ items: z.array(teamSummary) }))
  .query(async ({ ctx: { core, person } }) => {
    const rows = await core.db.teamMember.findMany({
      where: { personId: person },
      select: { role: true, team: { select: { id: true, name: true, level: true } } },
      orderBy: [{ team: { name: 'asc' } }, { teamId: 'asc' }],
    })
    return { items: rows.map(({ role, team }) => ({ ...team, role })) }
  })

const named = z.object({ id: z.string(), name: z.string() })
const byName = [{ name: 'asc' as const }, { id: 'asc' as const }]

const get = internal('dev:read', teamPeople, {
  summary: 'A team with its people, apps and clients',
  fails: ['teamUnknown'],
})
  .input(z.object({ team: idOr('teamUnknown') }))
  .output(
    teamSummary.extend({
      people: z.array(personOutput),
      invitations: z.array(invitationOutput).meta({ description: 'Those that can still be accepted' }),
      apps: z.array(appOutput),
      clients: z.array(clientOutput),
      testMembers: z.array(testMember).meta({ description: 'Empty before the first sandbox client' }),
      scopes: z.array(z.string()).meta({ description: 'Those that its level may hold' }),
      providers: z.array(named).meta({ description: 'Those that an app can belong to' }),
    }),
  )
  .query(async ({ ctx, input }) => {
    const role = await roleIn(ctx, input.team)
    const { db, now } = ctx.core
    const team = await db.team.findUniqueOrThrow({
      where: { id: input.team },
      select: {
        ...{ id: true, name: true, level: true },
        people: { select: memberColumns, orderBy: [{ since: 'asc' }, { personId: 'asc' }] },
        invitations: {
          where: { acceptedAt: null, expiresAt: { gt: new Date(now()) } },
          select: { id: true, email: true, role: true, invitedBy: true, expiresAt: true },
          orderBy: [{ expiresAt: 'asc' }, { id: 'asc' }],
        },
        apps: { select: appColumns, orderBy: byName },
        clients: { select: clientColumns(now()), orderBy: byName },
      },
    })
    const [testMembers, providers, names, logos] = await Promise.all([
      db.person.findMany({
        where: { memberships: { some: { organisation: { testTeamId: team.id } } } },
        select: { id: true, firstName: true, lastName: true },
        orderBy: [{ firstName: 'asc' }, { id: 'asc' }],
      }),
      db.organisation.findMany({ where: { kind: 'provider' }, select: { id: true, name: true }, orderBy: byName }),
      namesOf(
        db,
        team.invitations.map(({ invitedBy }) => invitedBy),
      ),
      logoVersions(
        db,
        team.apps.map(({ id }) => id),
      ),
    ])
    return {
      ...{ id: team.id, name: team.name, level: team.level, role, providers },
      people: team.people.map(toPerson),
      invitations: team.invitations.map(({ invitedBy, expiresAt, ...one }) => ({
        ...one,
        invitedBy: names.get(invitedBy) ?? null,
        expiresAt: toUnix(expiresAt),
      })),
      apps: team.apps.map((app) => toApp(app, logos.get(app.id) ?? null)),
      clients: team.clients.map(toClient),
      testMembers: testMembers.map((person) => ({ id: person.id, name: fullName(person) })),
      scopes: memberScopesAt(team.level),
    }
  })

export const teams = router({ list, get })
