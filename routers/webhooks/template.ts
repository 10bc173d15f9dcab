import { z } from 'zod'
import { appId } from '../kernel/app-id.ts'
import { associatedData } from '../kernel/cipher.ts'
import type { Context, Core } from '../kernel/context.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { errors } from '../kernel/errors.ts'
import { appDeveloper } from '../kernel/policies.ts'
import { seal } from '../kernel/secrets-key.ts'
import { router } from '../kernel/trpc.ts'
import { secret, url } from './rules.ts'
import type { Former, Secrets } from './stored-secrets.ts'
import { columnsOfApp, formerBeside, noFormer } from './stored-secrets.ts'

const app = z.object({ id: appId('id').meta({ description: 'Id of the app.', examples: ['trainer-app'] }) })

const example = 'https://trainer.example.org/hook'
const hasSecret = z
  .boolean()
  .meta({ description: 'Whether a secret is stored. It is never returned.', examples: [true] })
export const webhookSet = z.object({
  url: z.string().meta({ description: 'The delivery address, as it was set.', examples: [example] }),
  hasSecret,
})
export const template = z.object({
  url: z
    .string()
    .nullable()
    .meta({ description: 'The delivery address; null when none is set.', examples: [example] }),
  hasSecret,
})
const webhookInput = app.extend({
  url: url.meta({
    description: 'The delivery address: starts with `https://`, has at most 2,048 characters and no user info.',
    examples: [example],
  }),
  secret: secret
    .meta({
      description:
        'Sent with every delivery in the header `X-Webhook-Secret`, and used to sign it: 1 to 1,024 visible ASCII characters without spaces. If omitted, the stored one is cleared.',
      examples: ['v3ry-s3cret'],
    })
    .optional(),
})

type Granted = Context & { provider: string; team: string; suspended: boolean }

/** The columns of an app's secrets. */
export interface TemplateSecrets extends Former {
  webhookSecret: string | null
  secretSetAt: Date | null
}

export interface Template extends TemplateSecrets {
  webhookUrl: string | null
}

const noSecret: TemplateSecrets = { webhookSecret: null, secretSetAt: null, ...noFormer }
export const noTemplate: Template = { webhookUrl: null, ...noSecret }

type Stored = Former & Pick<Template, 'webhookSecret'>

/** What `secretsOf` reads. */
export const secretColumns = { webhookSecret: true, formerSecret: true, formerUntil: true } as const

export const secretsOf = ({ webhookSecret: secret, formerSecret, formerUntil }: Stored): Secrets => ({
  ...{ secret, formerSecret, formerUntil },
})

/** Returns the columns that replace the stored ones by a secret, null for none. Throws 503 as `seal` does. */
export async function sealedSecret(core: Core, app: string, secret: string | null) {
  if (secret === null) return () => noSecret
  const webhookSecret = await seal(core, secret, associatedData.template(app))
  const secretSetAt = new Date(core.now())
  return (stored: Stored): TemplateSecrets => {
    const { formerSecret, formerUntil } = stored
    const former = formerBeside(core, columnsOfApp(app), secretsOf(stored), secret) ?? { formerSecret, formerUntil }
    return { webhookSecret, secretSetAt, ...former }
  }
}

/** An app of another team or provider is as unknown as one that does not exist. */
const ownApp = ({ provider: providerId, team: teamId }: Granted, id: string) => ({ id, providerId, teamId })

/** One statement, so that an app which is suspended meanwhile changes before that or not at all. A suspended app changes none. */
async function clear(ctx: Granted, id: string, webhookUrl: string | null) {
  const { db } = ctx.core
  const where = ownApp(ctx, id)
  if (!ctx.suspended) {
    const data = { ...noTemplate, webhookUrl }
    const { count } = await db.app.updateMany({ where: { ...where, state: 'active' }, data })
    if (count === 1) return
  }
  const found = await db.app.findFirst({ where, select: { id: true } })
  throw found ? errors.appSuspended() : errors.appUnknown()
}

/** If the secrets change meanwhile, they are read again: the one before the last is the former one. */
async function set(ctx: Granted, id: string, { url: webhookUrl, secret }: { url: string; secret: string }) {
  const { db } = ctx.core
  const where = ownApp(ctx, id)
  const replace = await sealedSecret(ctx.core, id, secret)
  for (;;) {
    const stored = await db.app.findFirst({ where, select: { state: true, ...secretColumns } })
    if (!stored) throw errors.appUnknown()
    if (ctx.suspended || stored.state === 'suspended') throw errors.appSuspended()
    const { webhookSecret, formerSecret } = stored
    const read = { ...where, state: 'active' as const, webhookSecret, formerSecret }
    const { count } = await db.app.updateMany({ where: read, data: { webhookUrl, ...replace(stored) } })
    if (count === 1) return
  }
}

/** Replaces both address and secret: a request without a secret clears it. */
const put = endpoint('PUT /apps/{id}/webhook', 'ntf.apps.webhook:update', appDeveloper, {
  summary: 'Sets the webhook of an app',
  description:
    'Replaces both address and secret of the template. New subscriptions of the app copy it; existing ones keep their copy. A replaced secret signs beside the new one for 24 hours. Fields other than `url` and `secret` are ignored.',
  returns: 'The webhook as set.',
  fails: ['appUnknown', 'appSuspended'],
})
  .input(webhookInput)
  .output(webhookSet)
  .mutation(async ({ ctx, input: { id, url, secret } }) => {
    await (secret === undefined ? clear(ctx, id, url) : set(ctx, id, { url, secret }))
    return { url, hasSecret: secret !== undefined }
  })

const get = endpoint('GET /apps/{id}/webhook', 'ntf.apps.webhook:read', appDeveloper, {
  summary: 'The webhook of an app',
  description: 'The address, and whether there is a secret. A lost secret cannot be read: set a new one.',
  returns: 'The webhook, or `url: null` when none is set.',
  fails: ['appUnknown'],
})
  .input(app)
  .output(template)
  .query(async ({ ctx, input: { id } }) => {
    const select = { webhookUrl: true, webhookSecret: true }
    const found = await ctx.core.db.app.findFirst({ where: ownApp(ctx, id), select })
    if (!found) throw errors.appUnknown()
    return { url: found.webhookUrl, hasSecret: found.webhookSecret !== null }
  })

const remove = endpoint('DELETE /apps/{id}/webhook', 'ntf.apps.webhook:update', appDeveloper, {
  summary: 'Removes the webhook of an app',
  description:
    'Removes address and secret from the template, if there are any. Existing subscriptions keep their copy.',
  returns: 'No webhook is set.',
  status: 204,
  fails: ['appUnknown', 'appSuspended'],
})
  .input(app)
  .output(z.void())
  .mutation(({ ctx, input }) => clear(ctx, input.id, null))

export const webhook = router({ put, get, delete: remove })
