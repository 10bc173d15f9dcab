import { z } from 'zod'
import { appId } from '../apps.ts'
import { associatedData } from '../cipher.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { errors, withError } from '../errors.ts'
import { appDeveloper } from '../policies.ts'
import { router } from '../trpc.ts'

const app = z.object({ id: appId('id') })

/** Checked as written: URL parsing would repair a missing host and accept empty user info. */
const writtenUrl = /^https:\/\/[^/\\?#@]+(?:[/\\?#]|$)/
const isUrl = (url: string) => !/[\p{Cc}\p{Surrogate}]/u.test(url) && URL.canParse(url)

const url = z
  .string(withError('urlInvalid'))
  .max(2048, withError('urlInvalid'))
  .regex(writtenUrl, withError('urlInvalid'))
  .refine(isUrl, withError('urlInvalid'))
const secret = z.string(withError('secretInvalid')).regex(/^[!-~]{1,1024}$/, withError('secretInvalid'))

const webhookSet = z.object({ url: z.string(), hasSecret: z.boolean() })
const template = webhookSet.extend({ url: z.string().nullable().meta({ description: 'null when none is set' }) })

type Granted = Context & { provider: string; team: string; suspended: boolean }

interface Template {
  webhookUrl: string | null
  webhookSecret: string | null
}

/** An app of another team or provider is as unknown as one that does not exist. */
const ownApp = ({ provider: providerId, team: teamId }: Granted, id: string) => ({ id, providerId, teamId })

/** One statement, so that an app which is suspended meanwhile changes before that or not at all. A suspended app changes none. */
async function change(ctx: Granted, id: string, data: Template) {
  const { db } = ctx.core
  const where = ownApp(ctx, id)
  if (!ctx.suspended) {
    const { count } = await db.app.updateMany({ where: { ...where, state: 'active' }, data })
    if (count === 1) return
  }
  const found = await db.app.findFirst({ where, select: { id: true } })
  throw found ? errors.appSuspended() : errors.appUnknown()
}

/** Replaces both address and secret: a request without a secret clears it. */
const put = endpoint('PUT /apps/{id}/webhook', 'ntf.apps.webhook:update', appDeveloper, {
  summary: 'Sets the webhook of an app',
  fails: ['appUnknown', 'appSuspended'],
})
  .input(app.extend({ url, secret: secret.optional() }))
  .output(webhookSet)
  .mutation(async ({ ctx, input: { id, url, secret } }) => {
    const webhookSecret = secret === undefined ? null : ctx.core.cipher.encrypt(secret, associatedData.template(id))
    await change(ctx, id, { webhookUrl: url, webhookSecret })
    return { url, hasSecret: webhookSecret !== null }
  })

const get = endpoint('GET /apps/{id}/webhook', 'ntf.apps.webhook:read', appDeveloper, {
  summary: 'The webhook of an app',
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
  status: 204,
  fails: ['appUnknown', 'appSuspended'],
})
  .input(app)
  .output(z.void())
  .mutation(({ ctx, input }) => change(ctx, input.id, { webhookUrl: null, webhookSecret: null }))

export const webhook = router({ put, get, delete: remove })
