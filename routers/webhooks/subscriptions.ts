import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { instant, nullable, statement, text } from '../../prisma/pg/statement.ts'
import { isPostgresText } from '../kernel/access.ts'
import type { Context, Core } from '../kernel/context.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { internal } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import { appId, page } from '../kernel/page.ts'
import { providerPlatform } from '../kernel/policies.ts'
import { router } from '../kernel/trpc.ts'
import { endIfBusy, removeMostDeliveries } from './removal.ts'
import type { Secrets } from './stored-secrets.ts'
import { columnsOfApp, columnsOfSubscription, copiedSecrets, formerBeside, signingSecrets } from './stored-secrets.ts'
import { pickSecrets, secretColumns } from './template.ts'

const app = appId('app')

/** Lone surrogates are refused, as PostgreSQL cannot store them. */
const subscriber = z
  .string(withError('subscriberInvalid'))
  .regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u, withError('subscriberInvalid'))
  .meta({ description: "The subscriber, identified in the platform's own terms" })

const subscription = z.object({
  id: z.string(),
  app: z.string(),
  subscriber: z.string(),
  url: z.string().nullable().meta({ description: 'null if the app had no webhook: nothing is delivered' }),
  hasSecret: z.boolean(),
})

const statements = {
  /** Inserts only while the app is active and its webhook is the one that was read, and holds changes of it until then. */
  create: statement(
    'subscription_create',
    `INSERT INTO "Subscription" (id, "appId", subscriber, url, secret, "createdAt", "formerSecret", "formerUntil")
      SELECT $id, id, $subscriber, "webhookUrl", $secret, $createdAt::timestamptz, $formerSecret, $formerUntil::timestamptz FROM "App"
      WHERE id = $app AND "providerId" = $provider AND state = 'active' AND "webhookUrl" IS NOT DISTINCT FROM $url
        AND "webhookSecret" IS NOT DISTINCT FROM $appSecret AND "formerSecret" IS NOT DISTINCT FROM $appFormerSecret
      FOR SHARE
      RETURNING id`,
    {
      id: text,
      subscriber: text,
      secret: nullable(text),
      createdAt: instant,
      app: text,
      provider: text,
      url: nullable(text),
      appSecret: nullable(text),
      formerSecret: nullable(text),
      formerUntil: nullable(instant),
      appFormerSecret: nullable(text),
    },
    { id: text },
  ),
  /** Updates under the same condition, and only while the secrets of the subscription are those that were read. */
  update: statement(
    'subscription_update',
    `WITH app AS (
        SELECT id, "webhookUrl" FROM "App" WHERE id = $app AND state = 'active'
          AND "webhookSecret" IS NOT DISTINCT FROM $appSecret AND "formerSecret" IS NOT DISTINCT FROM $appFormerSecret FOR SHARE
      )
      UPDATE "Subscription" SET url = "webhookUrl", secret = $secret, "formerSecret" = $formerSecret, "formerUntil" = $formerUntil::timestamptz,
        "secretCopiedAt" = coalesce($copiedAt::timestamptz, "secretCopiedAt")
      FROM app WHERE "Subscription".id = $id AND "appId" = app.id AND "endedAt" IS NULL
        AND secret IS NOT DISTINCT FROM $storedSecret AND "formerSecret" IS NOT DISTINCT FROM $storedFormerSecret
      RETURNING url`,
    {
      app: text,
      appSecret: nullable(text),
      appFormerSecret: nullable(text),
      id: text,
      storedSecret: nullable(text),
      storedFormerSecret: nullable(text),
      secret: nullable(text),
      formerSecret: nullable(text),
      formerUntil: nullable(instant),
      copiedAt: nullable(instant),
    },
    { url: nullable(text) },
  ),
  remove: statement(
    'subscription_remove',
    `DELETE FROM "Subscription" USING "App"
      WHERE "Subscription".id = $id AND NOT test AND NOT address AND "App".id = "Subscription"."appId" AND "App"."providerId" = $provider
      RETURNING "Subscription".id`,
    { id: text, provider: text },
    { id: text },
  ),
}

/** Copies url and secret as of one moment: if they change meanwhile, they are read again. */
const create = internal('ntf.subscriptions:write', providerPlatform, {
  summary: "Subscribes to an app's events, with its current webhook",
  fails: ['appUnknown', 'appSuspended'],
})
  .input(z.object({ app, subscriber }))
  .output(subscription)
  .mutation(async ({ ctx, input: { app, subscriber } }) => {
    const id = randomUUID()
    for (;;) {
      const template = await findTemplate(ctx, app)
      const { webhookUrl: url, webhookSecret: appSecret, formerSecret: appFormerSecret } = template
      const copied = copiedSecrets(ctx.core, app, pickSecrets(template), id)
      const made = await ctx.core.db.execute(statements.create, {
        id,
        subscriber,
        ...copied,
        createdAt: ctx.core.now(),
        app,
        provider: ctx.provider,
        url,
        appSecret,
        appFormerSecret,
      })
      if (made.length === 1) return { id, app, subscriber, url, hasSecret: copied.secret !== null }
    }
  })

async function findTemplate({ core, provider }: Context & { provider: string }, app: string) {
  const select = { state: true, webhookUrl: true, ...secretColumns }
  const found = await core.db.app.findFirst({ where: { id: app, providerId: provider }, select })
  if (!found) throw errors.appUnknown()
  if (found.state === 'suspended') throw errors.appSuspended()
  return found
}

const input = z.object({ id: z.string().refine(isPostgresText, withError('subscriptionUnknown')) })

/**
 * Its former secret signs beside the new one for 24 hours. Deliveries that are pending get url and secrets as of their next attempt.
 */
const update = internal('ntf.subscriptions:write', providerPlatform, {
  summary: "Replaces url and secret of a subscription by those of its app's current webhook",
  fails: ['subscriptionUnknown', 'subscriptionEnded', 'appSuspended'],
})
  .input(input)
  .output(subscription)
  .mutation(async ({ ctx, input: { id } }) => {
    const { db, now } = ctx.core
    for (;;) {
      const { subscriber, app, ...stored } = await findSubscription(ctx, id)
      const next = replacedSecrets(ctx.core, { id, stored, app: app.id, template: pickSecrets(app) })
      const [row] = await db.execute(statements.update, {
        app: app.id,
        appSecret: app.webhookSecret,
        appFormerSecret: app.formerSecret,
        id,
        storedSecret: stored.secret,
        storedFormerSecret: stored.formerSecret,
        ...next,
        copiedAt: next === stored ? null : now(),
      })
      if (row) return { id, app: app.id, subscriber, url: row.url, hasSecret: next.secret !== null }
    }
  })

async function findSubscription({ core, provider }: Context & { provider: string }, id: string) {
  const found = await core.db.subscription.findFirst({
    where: { id, test: false, address: false, app: { providerId: provider } },
    select: {
      subscriber: true,
      secret: true,
      formerSecret: true,
      formerUntil: true,
      endedAt: true,
      app: { select: { id: true, state: true, ...secretColumns } },
    },
  })
  if (!found) throw errors.subscriptionUnknown()
  if (found.endedAt) throw errors.subscriptionEnded()
  if (found.app.state === 'suspended') throw errors.appSuspended()
  return found
}

interface Replacing {
  id: string
  stored: Secrets
  app: string
  template: Secrets
}

/** `stored` itself where the secret stays the same. */
function replacedSecrets(core: Core, { id, stored, app, template }: Replacing): Secrets {
  const { secret } = signingSecrets(core.cipher, columnsOfApp(app), template, core.now())
  const copied = copiedSecrets(core, app, template, id)
  if (secret === null || stored.secret === null) return copied
  const former = formerBeside(core, columnsOfSubscription(id), stored.secret, secret)
  return former ? { ...copied, ...former } : stored
}

/** Active subscriptions, oldest first, without that of the team's tests and the team's addresses. */
const list = internal('ntf.subscriptions:write', providerPlatform, {
  summary: 'The subscriptions of an app',
  fails: ['appUnknown'],
})
  .input(z.object({ app, ...page }))
  .output(z.object({ items: z.array(subscription), total: z.int() }))
  .query(async ({ ctx: { core, provider }, input: { app, limit, offset } }) => {
    const where = { appId: app, endedAt: null, test: false, address: false }
    const { found, items, total } = await core.db.$transaction(
      async (tx) => ({
        found: await tx.app.findFirst({ where: { id: app, providerId: provider }, select: { id: true } }),
        items: await tx.subscription.findMany({
          where,
          orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
          take: limit,
          skip: offset,
          select: { id: true, subscriber: true, url: true, secret: true },
        }),
        total: await tx.subscription.count({ where }),
      }),
      { isolationLevel: 'RepeatableRead' },
    )
    if (!found) throw errors.appUnknown()
    return { items: items.map(({ secret, ...item }) => ({ ...item, app, hasSecret: secret !== null })), total }
  })

const remove = internal('ntf.subscriptions:write', providerPlatform, {
  summary: 'Removes a subscription and its deliveries',
  fails: ['subscriptionUnknown'],
})
  .input(input)
  .output(z.object({ id: z.string() }))
  .mutation(async ({ ctx: { core, provider }, input: { id } }) => {
    const where = { id, test: false, address: false, app: { providerId: provider } }
    if ((await core.db.subscription.count({ where })) === 0) throw errors.subscriptionUnknown()
    const busy = await retryingDeadlocks(() => endIfBusy(core.db, id, core.now()))
    if (busy) await removeMostDeliveries(core.db, id)
    const removed = await retryingDeadlocks(() => core.db.execute(statements.remove, { id, provider }))
    if (removed.length === 0) throw errors.subscriptionUnknown()
    return { id }
  })

export const subscriptions = router({ create, update, list, remove })
