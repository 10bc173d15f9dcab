import { z } from 'zod'
import { int, statement } from '../../../prisma/pg/statement.ts'
import { appId } from '../../kernel/app-id.ts'
import type { Context } from '../../kernel/context.ts'
import { internal } from '../../kernel/endpoint.ts'
import { withError } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { unix } from '../../kernel/time.ts'
import { router } from '../../kernel/trpc.ts'
import { secret, url } from '../../webhooks/rules.ts'
import type { Template } from '../../webhooks/template.ts'
import { noTemplate, sealedSecret } from '../../webhooks/template.ts'
import { template, webhookSet } from '../../webhooks/webhook.ts'
import { auditing, authorOf } from '../audit/record.ts'
import { lockTemplate, webhookAppOf } from './app.ts'
import { endFormerSecret, formerSecretUntil } from './former-secret.ts'
import { kinds, test } from './test.ts'

/** Among each subscription's newest deliveries: a retry of an older one is not looked for. */
const LOOKED_AT = 20

/**
 * When the last attempt began that an app's secret, set at $2, has signed. Subscriptions created or updated since have copied it,
 * and that of tests takes it over at each test.
 */
const secretUsed = statement(
  'developer_secret_used',
  `SELECT ${unix('max("lastAttemptAt")')} AS at
    FROM "Subscription" of CROSS JOIN LATERAL (SELECT "lastAttemptAt" FROM "Delivery"
      WHERE "subscriptionId" = of.id AND "createdAt" >= $2::timestamptz
      ORDER BY "createdAt" DESC, id LIMIT ${LOOKED_AT}) found
    WHERE of."appId" = $1 AND secret IS NOT NULL
      AND (test OR coalesce("secretCopiedAt", of."createdAt") >= $2::timestamptz)
      AND "lastAttemptAt" >= coalesce("secretCopiedAt", '-infinity')
    HAVING count(*) > 0`,
  { at: int },
)

const app = appId('app')
const typedUrl = z
  .string(withError('urlInvalid'))
  .trim()
  .pipe(url)
  .meta({ minLength: 1, maxLength: 2048, format: 'uri' })
const typedSecret = z.string(withError('secretInvalid')).trim().pipe(secret).meta({ maxLength: 1024 })

type Shown = Pick<Template, 'webhookUrl' | 'webhookSecret'>

const shown = ({ webhookUrl, webhookSecret }: Shown) => ({ url: webhookUrl, hasSecret: webhookSecret !== null })

const get = internal('dev:read', teamPeople, {
  summary: "Shows a team its app's webhook",
  fails: ['ownAppUnknown', 'levelTooLow'],
})
  .input(z.object({ app }))
  .output(
    template.extend({
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
    const found = await webhookAppOf(ctx, input.app)
    const until = await formerSecretUntil(db, input.app, now())
    const setAt = found.webhookSecret === null ? null : found.secretSetAt
    const [used] = setAt === null ? [] : await db.execute(secretUsed, [input.app, setAt])
    return {
      ...shown(found),
      secretSetAt: setAt === null ? null : found.secretSetUnix,
      secretUsedAt: used?.at ?? null,
      formerSecretUntil: until,
    }
  })

interface Change {
  app: string
  action: string
  dataOf: (before: Template) => Partial<Template>
}

async function change(ctx: Context & { person: string }, { app, action, dataOf }: Change) {
  const { teamId: team } = await webhookAppOf(ctx, app)
  return auditing(ctx.core.db, authorOf(ctx), async (tx, note) => {
    const before = await lockTemplate(tx, ctx, { id: app, team })
    const data = dataOf(before)
    // A secret's ciphertext differs each time it is set.
    if (Object.entries(data).every(([field, value]) => before[field as keyof Template] === value)) return shown(before)
    await tx.app.update({ where: { id: app }, data, select: { id: true } })
    const after = shown({ ...before, ...data })
    await note({ team, action, target: app, before: shown(before), after })
    return after
  })
}

/** Unlike REST, preserves the secret when none is given: null removes it. */
const set = internal('dev:write', teamPeople, {
  summary: "Sets the webhook of the team's app",
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended'],
})
  .input(z.object({ app, url: typedUrl, secret: typedSecret.nullable().optional() }))
  .output(webhookSet)
  .mutation(async ({ ctx, input: { app, url, secret } }) => {
    const replace = typeof secret === 'string' ? await sealedSecret(ctx.core, app, secret) : undefined
    const dataOf = (before: Template) => ({ ...(secret === null && noTemplate), webhookUrl: url, ...replace?.(before) })
    const { hasSecret } = await change(ctx, { app, action: 'webhook.set', dataOf })
    return { url, hasSecret }
  })

/** Subscriptions keep the address and secret that they copied. */
const remove = internal('dev:write', teamPeople, {
  summary: "Removes the webhook of the team's app",
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended'],
})
  .input(z.object({ app }))
  .output(z.object({ app: z.string() }))
  .mutation(async ({ ctx, input: { app } }) => {
    await change(ctx, { app, action: 'webhook.remove', dataOf: () => noTemplate })
    return { app }
  })

export const webhook = router({ get, set, remove, endFormerSecret, test, kinds })
