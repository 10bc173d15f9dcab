import { z } from 'zod'
import {
  bool,
  instant,
  int,
  json,
  jsonArray,
  jsonStrings,
  listSql,
  nullable,
  oneOf,
  statement,
  text,
  texts,
} from '../../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../../kernel/access.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { unix } from '../../kernel/time.ts'
import { countTeam, roleIn } from '../access/roles.ts'
import type { Purpose, Refusal, WantedOfClient } from '../shared/mappers.ts'
import type { KeySet } from '../shared/public-keys.ts'
import { clientOutput, clientSummary, idOr, more, secretOutput } from '../shared/schemas.ts'

/** As `toState` says it. */
const STATE = `CASE WHEN state = 'requested' AND "requestedAt" IS NULL THEN 'refused' ELSE state::text END AS state`
const SUMMARY = `client.id, name, "appId" AS app, environment, type, ${STATE}`
const summary = {
  id: text,
  name: text,
  app: nullable(text),
  environment: oneOf('production', 'sandbox'),
  type: oneOf('web', 'native'),
  state: oneOf('active', 'requested', 'refused'),
}

const GRANTED = `FROM "Consent"
          WHERE "clientId" = client.id AND "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter::timestamptz`

interface Secret {
  id: string
  createdAt: number
  expiresAt: number
  lastUsedAt: number | null
}

const statements = {
  /** `apps`: of these, or of all; `withoutApp`: and those without an app. */
  list: statement(
    'clients_of_team',
    `SELECT ${SUMMARY} FROM "Client" client WHERE "teamId" = $team
        AND ($apps::text[] IS NULL OR "appId" = ANY ($apps::text[]) OR $withoutApp::bool AND "appId" IS NULL)
      ORDER BY name, id LIMIT $limit::int8 OFFSET $offset::int8`,
    { team: text, apps: nullable(texts), withoutApp: bool, limit: int, offset: int },
    summary,
  ),
  one: statement(
    'client_of_person',
    `SELECT ${SUMMARY}, "teamId" AS team, "testOnly", ${listSql('"redirectUris"')} AS "redirectUris", devices,
        ${listSql('"postLogoutRedirectUris"')} AS "postLogoutRedirectUris", ${listSql('scopes')} AS scopes, "idTokenAlgorithm",
        purpose::json, ${unix('"requestedAt"')} AS "requestedAt", wanted::json, refusal::json, authentication,
        (jwks->'keys')::json AS keys, version,
        consents,
        CASE WHEN $counted::bool THEN (SELECT count(*) FROM (SELECT DISTINCT "personId", "organisationId" ${GRANTED}) member) ELSE 0 END
          AS members,
        (SELECT coalesce(json_agg(json_build_object('id', id, 'createdAt', ${unix('"createdAt"')},
            'expiresAt', ${unix('"expiresAt"')}, 'lastUsedAt', ${unix('"lastUsedAt"')}) ORDER BY "createdAt" DESC, id), '[]')
          FROM "ClientSecret" WHERE "clientId" = client.id) AS secrets
      FROM "Client" client JOIN "TeamMember" USING ("teamId")
      CROSS JOIN LATERAL (SELECT count(*) AS consents ${GRANTED}) granted
      WHERE client.id = $client AND "personId" = $person`,
    { client: text, person: text, consentedAfter: instant, counted: bool },
    {
      ...summary,
      team: text,
      testOnly: bool,
      redirectUris: jsonStrings,
      devices: bool,
      postLogoutRedirectUris: jsonStrings,
      scopes: jsonStrings,
      idTokenAlgorithm: oneOf('ES256', 'RS256'),
      purpose: nullable(json<Purpose>()),
      requestedAt: nullable(int),
      wanted: nullable(json<WantedOfClient>()),
      refusal: nullable(json<Refusal<WantedOfClient>>()),
      authentication: oneOf('none', 'client_secret', 'private_key_jwt'),
      keys: nullable(json<KeySet['keys']>()),
      version: int,
      consents: int,
      members: int,
      secrets: jsonArray<Secret>(),
    },
  ),
}

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
    const rows = await ctx.core.db.execute(statements.list, {
      team,
      apps: apps?.filter((app) => app !== null) ?? null,
      withoutApp: apps?.includes(null) ?? false,
      limit: limit + 1,
      offset,
    })
    return { items: rows.slice(0, limit), more: rows.length > limit }
  })

export const getClient = internal('dev:read', teamPeople, { summary: 'A client of a team', fails: ['clientUnknown'] })
  .input(
    z.object({
      client: idOr('clientUnknown'),
      members: z.boolean().default(true).meta({ description: 'false: the members are not counted, but 0' }),
    }),
  )
  .output(
    clientOutput.extend({
      members: z.int().meta({ description: 'Members who allow it, each once a club, however often they signed in' }),
      secrets: z.array(secretOutput).meta({ description: 'Newest first; an expired one is listed for 30 days' }),
    }),
  )
  .query(async ({ ctx, input: { client: id, members: counted } }) => {
    const { core, person } = ctx
    const consentedAfter = core.now() - CONSENT_MS
    const [client] = await core.db.execute(statements.one, { client: id, person, consentedAfter, counted })
    if (!client) throw errors.clientUnknown()
    await countTeam(ctx, client.team)
    return client
  })
