import { z } from 'zod'
import { appId } from '../apps.ts'
import { associatedData } from '../cipher.ts'
import type { Context } from '../context.ts'
import { internal } from '../endpoint.ts'
import { teamPeople } from '../policies.ts'
import { router } from '../trpc.ts'
import { secret, template, url, webhookSet } from '../webhook/index.ts'
import { auditing, authorOf } from './auditing.ts'
import type { Template } from './webhook-app.ts'
import { lockTemplate, webhookAppOf } from './webhook-app.ts'
import { kinds, test } from './webhook-test.ts'

const app = appId('app')

/** The secret is never shown. */
const shown = ({ webhookUrl, webhookSecret }: Template) => ({ url: webhookUrl, hasSecret: webhookSecret !== null })

const get = internal('dev:read', teamPeople, {
  summary: 'Shows the team the webhook of an app',
  fails: ['ownAppUnknown', 'levelTooLow'],
})
  .input(z.object({ app }))
  .output(template)
  .query(async ({ ctx, input }) => shown(await webhookAppOf(ctx, input.app)))

/** Locks the app, so that a suspension comes before this or after it, and the audit log has what was there before. */
async function change(ctx: Context & { person: string }, app: string, action: string, data: Template) {
  await webhookAppOf(ctx, app)
  await auditing(ctx.core.db, authorOf(ctx), async (tx, note) => {
    const before = await lockTemplate(tx, app)
    await tx.app.update({ where: { id: app }, data, select: { id: true } })
    await note({ team: before.teamId, action, target: app, before: shown(before), after: shown(data) })
  })
}

/** As over REST, replaces address and secret; omitting the secret removes it. */
const set = internal('dev:write', teamPeople, {
  summary: 'Sets the webhook for the team of an app',
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended'],
})
  .input(z.object({ app, url, secret: secret.optional() }))
  .output(webhookSet)
  .mutation(async ({ ctx, input: { app, url, secret } }) => {
    const webhookSecret = secret === undefined ? null : ctx.core.cipher.encrypt(secret, associatedData.template(app))
    await change(ctx, app, 'webhook.set', { webhookUrl: url, webhookSecret })
    return { url, hasSecret: webhookSecret !== null }
  })

/** Subscriptions keep what they took over. */
const remove = internal('dev:write', teamPeople, {
  summary: 'Removes the webhook for the team of an app',
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended'],
})
  .input(z.object({ app }))
  .output(z.object({ app: z.string() }))
  .mutation(async ({ ctx, input: { app } }) => {
    await change(ctx, app, 'webhook.remove', { webhookUrl: null, webhookSecret: null })
    return { app }
  })

export const webhook = router({ get, set, remove, test, kinds })
