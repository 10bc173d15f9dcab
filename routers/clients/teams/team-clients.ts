import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { byName, clientColumns, stateOf, toClient } from '../rows.ts'
import { secretColumns, toSecret } from '../secrets/secrets.ts'
import { clientOutput, clientSummary, idOr, more, secretOutput } from '../shapes.ts'
import { countTeam, memberOf, roleIn } from './team-of.ts'

export const listClients = internal('dev:read', teamPeople, {
  summary: 'The clients of a team, or of some of its apps',
  fails: ['teamUnknown'],
})
  .input(
    z.object({
      team: idOr('teamUnknown'),
      apps: z
        .array(idOr('ownAppUnknown').nullable())
        .max(50)
        .optional()
        .meta({ description: 'Only of these apps; null stands for clients without an app' }),
      ...page,
    }),
  )
  .output(z.object({ items: z.array(clientSummary), more }))
  .query(async ({ ctx, input: { team, apps, limit, offset } }) => {
    await roleIn(ctx, team)
    const rows = await ctx.core.db.client.findMany({
      where: {
        teamId: team,
        ...(apps && {
          OR: [{ appId: { in: apps.flatMap((app) => app ?? []) } }, ...(apps.includes(null) ? [{ appId: null }] : [])],
        }),
      },
      select: { id: true, name: true, appId: true, environment: true, type: true, state: true, requestedAt: true },
      ...{ orderBy: byName, skip: offset, take: limit + 1 },
    })
    const items = rows.slice(0, limit).map(({ appId: app, requestedAt, ...row }) => ({
      ...row,
      app,
      state: stateOf({ ...row, requestedAt }),
    }))
    return { items, more: rows.length > limit }
  })

export const getClient = internal('dev:read', teamPeople, { summary: 'A client of a team', fails: ['clientUnknown'] })
  .input(z.object({ client: idOr('clientUnknown') }))
  .output(
    clientOutput.extend({
      secrets: z.array(secretOutput).meta({ description: 'Newest first; an expired one is listed for 30 days' }),
    }),
  )
  .query(async ({ ctx, input: { client: id } }) => {
    const { core, person } = ctx
    const newestFirst = [{ createdAt: 'desc' as const }, { id: 'asc' as const }]
    const secrets = { select: secretColumns, orderBy: newestFirst }
    const select = { ...clientColumns(core.now()), secrets }
    const client = await core.db.client.findFirst({ where: { id, ...memberOf(person) }, select })
    if (!client) throw errors.clientUnknown()
    await countTeam(ctx, client.teamId!)
    const { secrets: rows, ...row } = client
    return { ...toClient(row), secrets: rows.map(toSecret) }
  })
