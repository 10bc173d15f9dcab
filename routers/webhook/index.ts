import { z } from 'zod'
import { appId, own } from '../apps.ts'
import { associatedData } from '../cipher.ts'
import type { Context } from '../context.ts'
import { errors, withError } from '../errors.ts'
import { endpoint, providers, router } from '../trpc.ts'

const app = z.object({ id: appId('id') })

/** As it is written it has a host and no user info: the parser alone would repair the one, and overlook an empty other. */
const written = /^https:\/\/[^/\\?#@]+(?:[/\\?#]|$)/
const isAddress = (url: string) => !/[\p{Cc}\p{Surrogate}]/u.test(url) && URL.canParse(url)

const url = z
  .string(withError('urlInvalid'))
  .max(2048, withError('urlInvalid'))
  .regex(written, withError('urlInvalid'))
  .refine(isAddress, withError('urlInvalid'))
const secret = z.string(withError('secretInvalid')).regex(/^[!-~]{1,1024}$/, withError('secretInvalid'))

const webhookSet = z.object({ url: z.string(), hasSecret: z.boolean() })
const template = webhookSet.extend({ url: z.string().nullable().meta({ description: 'null when none is set' }) })

/** One statement, so that an app suspended at the same time is changed before that or not at all. */
async function change(ctx: Context, id: string, data: { webhookUrl: string | null; webhookSecret: string | null }) {
  const { count } = await ctx.db.app.updateMany({ where: { ...own(ctx, id), state: 'active' }, data })
  if (count === 1) return
  const found = await ctx.db.app.findFirst({ where: own(ctx, id), select: { id: true } })
  throw found ? errors.appSuspended() : errors.appUnknown()
}

/** App webhook template: sets address and secret; both are replaced, so without a secret there is none. */
const put = endpoint('PUT /apps/{id}/webhook', 'ntf.apps.webhook:update', providers, {
  summary: 'Sets the webhook of an app',
  fails: ['appUnknown', 'appSuspended'],
})
  .input(app.extend({ url, secret: secret.optional() }))
  .output(webhookSet)
  .mutation(async ({ ctx, input: { id, url, secret } }) => {
    const webhookSecret = secret === undefined ? null : ctx.cipher.encrypt(secret, associatedData.template(id))
    await change(ctx, id, { webhookUrl: url, webhookSecret })
    return { url, hasSecret: webhookSecret !== null }
  })

/** App webhook template: the address, and whether there is a secret, which is never read back. */
const get = endpoint('GET /apps/{id}/webhook', 'ntf.apps.webhook:read', providers, {
  summary: 'The webhook of an app',
  fails: ['appUnknown'],
})
  .input(app)
  .output(template)
  .query(async ({ ctx, input }) => {
    const select = { webhookUrl: true, webhookSecret: true }
    const found = await ctx.db.app.findFirst({ where: own(ctx, input.id), select })
    if (!found) throw errors.appUnknown()
    return { url: found.webhookUrl, hasSecret: found.webhookSecret !== null }
  })

/** App webhook template: removes address and secret, also where there are none. */
const remove = endpoint('DELETE /apps/{id}/webhook', 'ntf.apps.webhook:update', providers, {
  summary: 'Removes the webhook of an app',
  status: 204,
  fails: ['appUnknown', 'appSuspended'],
})
  .input(app)
  .output(z.void())
  .mutation(({ ctx, input }) => change(ctx, input.id, { webhookUrl: null, webhookSecret: null }))

export const webhook = router({ put, get, delete: remove })
