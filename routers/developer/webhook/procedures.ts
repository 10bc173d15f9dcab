import { z } from 'zod'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { int, statement, text, timestamp } from '../../../prisma/pg/statement.ts'
import type { Context } from '../../kernel/context.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { appId } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { unix } from '../../kernel/time.ts'
import { router } from '../../kernel/trpc.ts'
import type { WantedWebhook } from '../../webhooks/template.ts'
import { prepareTemplate, showTemplate, writeTemplate } from '../../webhooks/template.ts'
import { template, typedWebhook, webhookSet } from '../../webhooks/webhook.ts'
import type { Action } from '../audit/noted.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { findWebhookApp, lockTemplate } from './app.ts'
import { etag, makeEtag, seenEtag } from './etag.ts'
import { endFormerSecret, formerSecretUntil } from './former-secret.ts'
import { kinds, test } from './test.ts'

/** Among each subscription's newest deliveries: a retry of an older one is not looked for. */
const LOOKED_AT = 20

/**
 * When the last attempt began that an app's secret, set at `setAt`, has signed. Subscriptions created or updated since have
 * copied it, and that of tests takes it over at each test.
 */
const secretUsed = statement(
  'developer_secret_used',
  `SELECT ${unix('max("lastAttemptAt")')} AS at
    FROM "Subscription" of CROSS JOIN LATERAL (SELECT "lastAttemptAt" FROM "Delivery"
      WHERE "subscriptionId" = of.id AND "createdAt" >= $setAt::timestamptz
      ORDER BY "createdAt" DESC, id LIMIT ${LOOKED_AT}) found
    WHERE of."appId" = $app AND secret IS NOT NULL AND NOT address
      AND (test OR coalesce("secretCopiedAt", of."createdAt") >= $setAt::timestamptz)
      AND "lastAttemptAt" >= coalesce("secretCopiedAt", '-infinity')
    HAVING count(*) > 0`,
  { app: text, setAt: timestamp },
  { at: int },
)

const app = appId('app')

const get = internal('dev:read', teamPeople, {
  summary: "Shows a team its app's webhook",
  fails: ['ownAppUnknown', 'levelTooLow'],
})
  .input(z.object({ app }))
  .output(
    template.extend({
      etag,
      secretSetAt: z.int().nullable().meta({
        description: 'Unix seconds; null without a secret, and for one that was set before this was recorded',
      }),
      secretUsedAt: z
        .int()
        .nullable()
        .meta({ description: 'When the last stored attempt that it signed began; null without `secretSetAt`' }),
      formerSecretUntil: z.int().nullable().meta({
        description:
          'Until when a former secret of the app, or of one of its subscriptions, signs beside the present one, in Unix seconds; null if none does',
      }),
    }),
  )
  .query(async ({ ctx, input }) => {
    const { db, now } = ctx.core
    const found = await findWebhookApp(ctx, input.app)
    const until = await formerSecretUntil(db, input.app, now())
    const setAt = found.webhookSecret === null ? null : found.secretSetAt
    const [used] = setAt === null ? [] : await db.execute(secretUsed, { app: input.app, setAt })
    return {
      ...showTemplate(found),
      etag: makeEtag(found.webhookUrl, found.webhookSecret),
      secretSetAt: setAt === null ? null : found.secretSetUnix,
      secretUsedAt: used?.at ?? null,
      formerSecretUntil: until,
    }
  })

async function change<Url extends string | null>(
  ctx: Context & { person: string },
  action: Action,
  { app, etag, ...wanted }: WantedWebhook<Url> & { app: string; etag?: string | undefined },
) {
  const { teamId: team } = await findWebhookApp(ctx, app)
  const toNext = await prepareTemplate(ctx.core, app, wanted)
  return auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
    const { providerId: provider, ...stored } = await lockTemplate(tx, ctx, { id: app, team })
    const { webhookUrl, webhookSecret } = stored
    if (etag !== undefined && etag !== makeEtag(webhookUrl, webhookSecret)) throw errors.changedMeanwhile()
    const next = toNext(stored)
    const after = showTemplate(next)
    // A secret's ciphertext differs each time it is set.
    if (Object.entries(next).every(([field, value]) => stored[field as keyof typeof stored] === value)) return after
    await writeTemplate((set, values) => executeIn(tx, set, values), { id: app, team, provider }, stored, next)
    await note({ team, action, target: app, before: showTemplate(stored), after })
    return after
  })
}

/** Unlike REST, preserves the secret when none is given, at the same host and port: null removes it. */
const set = internal('dev:write', teamPeople, {
  summary: "Sets the webhook of the team's app",
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended', 'changedMeanwhile', 'secretNeeded'],
})
  .input(typedWebhook.extend({ app, etag: seenEtag }))
  .output(webhookSet)
  .mutation(({ ctx, input }) => change(ctx, 'webhook.set', input))

/** Subscriptions keep the address and secret that they copied. */
const remove = internal('dev:write', teamPeople, {
  summary: "Removes the webhook of the team's app",
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended'],
})
  .input(z.object({ app }))
  .output(z.object({ app: z.string() }))
  .mutation(async ({ ctx, input: { app } }) => {
    await change(ctx, 'webhook.remove', { app, url: null, secret: null })
    return { app }
  })

export const webhook = router({ get, set, remove, endFormerSecret, test, kinds })
