import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { toUnix } from '../../kernel/time.ts'
import { logoVersions } from '../logo-versions.ts'
import { appColumns, byName, toApp } from '../rows.ts'
import { appOutput, appSummary, idOr, more, named } from '../shapes.ts'
import { countTeam, memberOf, roleIn } from './team-of.ts'

const team = idOr('teamUnknown')

export const listApps = internal('dev:read', teamPeople, { summary: 'The apps of a team', fails: ['teamUnknown'] })
  .input(z.object({ team, ...page }))
  .output(z.object({ items: z.array(appSummary), more }))
  .query(async ({ ctx, input: { team, limit, offset } }) => {
    await roleIn(ctx, team)
    const rows = await ctx.core.db.app.findMany({
      where: { teamId: team },
      select: { id: true, name: true, state: true, endsAt: true },
      ...{ orderBy: byName, skip: offset, take: limit + 1 },
    })
    const items = rows.slice(0, limit).map(({ endsAt, ...row }) => ({ ...row, endsAt: endsAt && toUnix(endsAt) }))
    return { items, more: rows.length > limit }
  })

export const getApp = internal('dev:read', teamPeople, { summary: 'An app of a team', fails: ['ownAppUnknown'] })
  .input(z.object({ app: idOr('ownAppUnknown') }))
  .output(appOutput)
  .query(async ({ ctx, input: { app: id } }) => {
    const { core, person } = ctx
    const app = await core.db.app.findFirst({ where: { id, ...memberOf(person) }, select: appColumns })
    if (!app) throw errors.ownAppUnknown()
    await countTeam(ctx, app.teamId)
    return toApp(app, (await logoVersions(core.db, [id])).get(id) ?? null)
  })

const MAX_PROVIDERS = 200

export const providers = internal('dev:read', teamPeople, {
  summary: `The providers that an app can belong to, at most ${MAX_PROVIDERS}`,
  fails: ['teamUnknown'],
})
  .input(z.object({ team }))
  .output(z.object({ items: z.array(named) }))
  .query(async ({ ctx, input }) => {
    await roleIn(ctx, input.team)
    const items = await ctx.core.db.organisation.findMany({
      where: { kind: 'provider', testTeamId: null },
      select: { id: true, name: true },
      ...{ orderBy: byName, take: MAX_PROVIDERS },
    })
    return { items }
  })
