import { z } from 'zod'
import { int, json, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { withLabels } from '../../kernel/labels.ts'
import { page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { unix } from '../../kernel/time.ts'
import { countTeam, roleIn } from '../access/roles.ts'
import type { Refusal, WantedOfApp } from '../shared/mappers.ts'
import { appOutput, appSummary, idOr, more, named } from '../shared/schemas.ts'

const team = idOr('teamUnknown')

const MAX_PROVIDERS = 200

const summary = { id: text, name: text, state: oneOf('active', 'suspended'), endsAt: nullable(int) }

const statements = {
  list: statement(
    'apps_of_team',
    `SELECT id, name, state, ${unix('"endsAt"')} AS "endsAt" FROM "App" WHERE "teamId" = $team
      ORDER BY name, id LIMIT $limit::int8 OFFSET $offset::int8`,
    { team: text, limit: int, offset: int },
    summary,
  ),
  one: statement(
    'app_of_person',
    `SELECT app.id, app.name, state, ${unix('"endsAt"')} AS "endsAt", "teamId" AS team,
        json_build_object('id', provider.id, 'name', provider.name) AS provider, description, homepage,
        md5(logo) AS logo, app.version, wanted::json, refusal::json
      FROM "App" app JOIN "TeamMember" USING ("teamId") JOIN "Organisation" provider ON provider.id = "providerId"
      WHERE app.id = $app AND "personId" = $person`,
    { app: text, person: text },
    {
      ...summary,
      team: text,
      provider: json<{ id: string; name: string }>(),
      description: nullable(text),
      homepage: nullable(text),
      logo: nullable(text),
      version: int,
      wanted: nullable(json<WantedOfApp>()),
      refusal: nullable(json<Refusal<WantedOfApp>>()),
    },
  ),
  providers: statement(
    'providers',
    `SELECT id, name FROM "Organisation" WHERE kind = 'provider' AND "testTeamId" IS NULL
      ORDER BY name, id LIMIT ${MAX_PROVIDERS}`,
    {},
    { id: text, name: text },
  ),
}

export const listApps = internal('dev:read', teamPeople, { summary: 'The apps of a team', fails: ['teamUnknown'] })
  .input(z.object({ team, ...page }))
  .output(z.object({ items: z.array(appSummary), more }))
  .query(async ({ ctx, input: { team, limit, offset } }) => {
    await roleIn(ctx, team)
    const rows = await ctx.core.db.execute(statements.list, { team, limit: limit + 1, offset })
    return { items: rows.slice(0, limit), more: rows.length > limit }
  })

export const getApp = internal('dev:read', teamPeople, { summary: 'An app of a team', fails: ['ownAppUnknown'] })
  .input(z.object({ app: idOr('ownAppUnknown') }))
  .output(appOutput)
  .query(async ({ ctx, input: { app: id } }) => {
    const { core, person } = ctx
    const [app] = await core.db.execute(statements.one, { app: id, person })
    if (!app) throw errors.ownAppUnknown()
    await countTeam(ctx, app.team)
    return app
  })

export const providers = internal('dev:read', teamPeople, {
  summary: `The providers that an app can belong to, at most ${MAX_PROVIDERS}`,
  fails: ['teamUnknown'],
})
  .input(z.object({ team }))
  .output(z.object({ items: z.array(named) }))
  .query(async ({ ctx, input }) => {
    await roleIn(ctx, input.team)
    return { items: withLabels(await ctx.core.db.execute(statements.providers, {})) }
  })
