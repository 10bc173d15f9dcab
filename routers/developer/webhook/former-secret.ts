import { z } from 'zod'
import type { Database, Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, int, nullable, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { appId } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { unix } from '../../kernel/time.ts'
import { noFormer } from '../../webhooks/stored-secrets.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { findWebhookApp, lockTemplate } from './app.ts'

const lastEnd = statement(
  'developer_former_until',
  `SELECT ${unix('max(until)')} AS until FROM (
      SELECT "formerUntil" FROM "App" WHERE id = $app
      UNION ALL SELECT max("formerUntil") FROM "Subscription" WHERE "appId" = $app AND "formerUntil" IS NOT NULL
    ) former (until) WHERE until > $now::timestamptz`,
  { app: text, now: instant },
  { until: nullable(int) },
)

/** Until when a former secret of an app, or of one of its subscriptions, signs, in Unix seconds; null if none does. */
export async function formerSecretUntil(db: Database, app: string, now: number) {
  const [row] = await db.execute(lastEnd, { app, now })
  return row!.until
}

const endAll = statement(
  'former_secrets_end',
  `WITH former AS (SELECT id, "formerUntil" FROM "Subscription" WHERE "appId" = $app AND "formerUntil" IS NOT NULL
      ORDER BY id FOR NO KEY UPDATE),
    ended AS (UPDATE "Subscription" SET "formerSecret" = NULL, "formerUntil" = NULL FROM former
      WHERE "Subscription".id = former.id RETURNING former."formerUntil")
    SELECT max("formerUntil") AS until FROM ended`,
  { app: text },
  { until: nullable(instant) },
)

/** Locks subscriptions in the order of retries. Returns the latest end; null if there is no former secret. */
async function endOfSubscriptions(tx: Transaction, app: string) {
  const [row] = await executeIn(tx, endAll, { app })
  return row!.until
}

/** For a secret that has leaked: from then on nothing is signed with it. */
export const endFormerSecret = internal('dev:write', teamPeople, {
  summary: "Ends the former secrets of the team's app and of its subscriptions at once",
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended'],
})
  .input(z.object({ app: appId('app') }))
  .output(z.object({ app: z.string() }))
  .mutation(async ({ ctx, input: { app } }) => {
    const { teamId: team } = await findWebhookApp(ctx, app)
    await auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
      const { formerUntil: own } = await lockTemplate(tx, ctx, { id: app, team })
      if (own) await tx.app.update({ where: { id: app }, data: noFormer, select: { id: true } })
      const copied = await endOfSubscriptions(tx, app)
      const formerUntil = new Date(Math.max(Number(own), Number(copied)))
      if (Number(formerUntil) <= ctx.core.now()) return
      const action = 'webhook.endFormerSecret'
      await note({ team, action, target: app, before: { formerUntil }, after: { formerUntil: null } })
    })
    return { app }
  })
