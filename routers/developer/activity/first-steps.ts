import { z } from 'zod'
import { bool, json, listSql, nullable, statement, text } from '../../../prisma/pg/statement.ts'
import type { Context } from '../../kernel/context.ts'
import { clientOutput } from '../shared/schemas.ts'

const firstClient = clientOutput.pick({ id: true, authentication: true, redirectUris: true, scopes: true })

export const firstSteps = z.object({
  client: firstClient.nullable().meta({ description: 'The sandbox client with which a call can be made the easiest' }),
  hasClient: z.boolean(),
  hasCalled: z
    .boolean()
    .meta({ description: 'Whether a call has succeeded in the last 30 days, or production was asked for' }),
  hasProduction: z.boolean().meta({ description: 'Whether a production client was asked for' }),
})

/** First those that need no secret, then by their ids. */
const read = statement(
  'app_first_steps',
  `SELECT (SELECT json_build_object('id', id, 'authentication', authentication, 'redirectUris', ${listSql('"redirectUris"')},
        'scopes', ${listSql('scopes')})
      FROM "Client" WHERE "appId" = $app AND environment = 'sandbox' AND state = 'active'
      ORDER BY authentication <> 'none', coalesce(cardinality("redirectUris"), 0) = 0, id LIMIT 1) AS client,
    EXISTS (SELECT FROM "Client" WHERE "appId" = $app) AS "hasClient",
    "hasProduction", "hasProduction" OR EXISTS (SELECT FROM "ClientUsage" WHERE "teamId" = $team AND span = 'hour' AND ok > 0
      AND "clientId" = ANY (ARRAY(SELECT id FROM "Client" WHERE "appId" = $app))) AS "hasCalled"
    FROM (SELECT EXISTS (SELECT FROM "Client" WHERE "appId" = $app AND environment = 'production') AS "hasProduction") asked`,
  { app: text, team: text },
  { client: nullable(json<z.infer<typeof firstClient>>()), hasClient: bool, hasProduction: bool, hasCalled: bool },
)

export async function readFirstSteps({ core: { db } }: Context, of: { app: string; team: string }) {
  const [found] = await db.execute(read, of)
  return found!
}
