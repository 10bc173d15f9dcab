import type { Transactional } from '../../../prisma/pg/execute.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, nullable, statement, text } from '../../../prisma/pg/statement.ts'
import type { Core } from '../../kernel/context.ts'
import { copiedSecrets } from '../../webhooks/stored-secrets.ts'
import type { Template } from '../../webhooks/template.ts'
import { pickSecrets } from '../../webhooks/template.ts'

/** The subscription for an app's test events: a CHECK in the database makes it the only one. */
export const testSubscriptionId = (app: string) => `test:${app}`

const statements = {
  store: statement(
    'test_subscription_store',
    `INSERT INTO "Subscription" (id, "appId", subscriber, test, "createdAt", url, secret, "formerSecret", "formerUntil")
      VALUES ($id, $app, 'test', true, $at, $url, $secret, $formerSecret, $formerUntil)
      ON CONFLICT (id) DO UPDATE SET url = excluded.url, secret = excluded.secret, "formerSecret" = excluded."formerSecret",
        "formerUntil" = excluded."formerUntil", "endedAt" = NULL`,
    {
      id: text,
      app: text,
      at: instant,
      url: text,
      secret: nullable(text),
      formerSecret: nullable(text),
      formerUntil: nullable(instant),
    },
    {},
  ),
  lock: statement(
    'test_apps_lock',
    `SELECT app.id, "webhookUrl", "webhookSecret", "formerSecret", "formerUntil" FROM "App" app JOIN "Team" team ON team.id = "teamId"
      WHERE "teamId" = $team AND level = 'developer' AND state = 'active' AND "webhookUrl" IS NOT NULL
      ORDER BY app.id FOR NO KEY UPDATE OF app`,
    { team: text },
    {
      id: text,
      webhookUrl: text,
      webhookSecret: nullable(text),
      formerSecret: nullable(text),
      formerUntil: nullable(instant),
    },
  ),
}

type Webhook = Omit<Template, 'webhookUrl' | 'secretSetAt'> & { webhookUrl: string }

/** Its test subscription takes over the webhook of an app, which is locked. */
export async function storeTestSubscription(tx: Transactional, core: Core, app: string, webhook: Webhook) {
  const id = testSubscriptionId(app)
  const { secret, formerSecret, formerUntil } = copiedSecrets(core, app, pickSecrets(webhook), id)
  const values = { id, app, at: core.now(), url: webhook.webhookUrl, secret, formerSecret, formerUntil }
  await executeIn(tx, statements.store, values)
}

/** The apps of a team with a webhook get the events of the test club. */
export async function subscribeToTestClub(tx: Transactional, core: Core, team: string): Promise<void> {
  for (const app of await executeIn(tx, statements.lock, { team })) await storeTestSubscription(tx, core, app.id, app)
}
