import { z } from 'zod'
import { instant, int, statement, text } from '../../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../../kernel/access.ts'
import type { Context } from '../../kernel/context.ts'

export const impact = z.object({
  clients: z.int(),
  consents: z.int().meta({ description: 'Consents in force' }),
  stores: z.int().meta({ description: 'Clubs in which something is stored' }),
  bytes: z.int().meta({ description: 'Bytes of the stored values' }),
  subscriptions: z.int().meta({ description: "Webhook subscriptions, without the app's own for tests" }),
})

const held = (name: string, clientColumn: string, appColumn: string) =>
  statement(
    name,
    `WITH app AS (SELECT id FROM "App" WHERE ${appColumn} = $id), client AS (SELECT id FROM "Client" WHERE ${clientColumn} = $id),
        store AS (SELECT bytes FROM app JOIN "StorageUsage" ON "appId" = app.id WHERE bytes > 0)
      SELECT (SELECT count(*) FROM client) AS clients,
        (SELECT count(*) FROM client JOIN "Consent" ON "clientId" = client.id
          WHERE "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter::timestamptz) AS consents,
        (SELECT count(*) FROM store) AS stores, (SELECT coalesce(sum(bytes), 0)::int8 FROM store) AS bytes,
        (SELECT count(*) FROM app JOIN "Subscription" ON "appId" = app.id
          WHERE NOT test AND "endedAt" IS NULL) AS subscriptions`,
    { id: text, consentedAfter: instant },
    { clients: int, consents: int, stores: int, bytes: int, subscriptions: int },
  )
const statements = {
  app: held('app_impact', '"appId"', 'id'),
  team: held('team_impact', '"teamId"', '"teamId"'),
}

/** What ends with an app, or with all apps and clients of a team. */
export async function readImpact({ core: { db, now } }: Context, of: { app: string } | { team: string }) {
  const consentedAfter = now() - CONSENT_MS
  const [statement, id] = 'app' in of ? [statements.app, of.app] : [statements.team, of.team]
  const [found] = await db.execute(statement, { id, consentedAfter })
  return found!
}
