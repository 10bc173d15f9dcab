import { z } from 'zod'
import { endpoint } from '../kernel/endpoint.ts'
import { withError } from '../kernel/errors.ts'
import { appId } from '../kernel/page.ts'
import { appDeveloper } from '../kernel/policies.ts'
import { router } from '../kernel/trpc.ts'
import { secret, url } from './rules.ts'
import { readTemplate, setTemplate, showTemplate } from './template.ts'

const app = z.object({ id: appId('id').meta({ description: 'Id of the app.', examples: ['trainer-app'] }) })

const example = 'https://trainer.example.org/hook'
const hasSecret = z
  .boolean()
  .meta({ description: 'Whether a secret is stored. It is never returned.', examples: [true] })
export const webhookSet = z
  .object({
    url: z.string().meta({ description: 'The delivery address, as it was set.', examples: [example] }),
    hasSecret,
  })
  .meta({ title: 'StoredWebhook', description: 'The webhook of an app, as it was set.' })
export const template = z
  .object({
    url: z
      .string()
      .nullable()
      .meta({ description: 'The delivery address; null when none is set.', examples: [example] }),
    hasSecret,
  })
  .meta({ title: 'Webhook', description: 'The webhook of an app.' })
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

/** As people type it: white space around a value is dropped. Without a secret, the stored one stays. */
export const typedWebhook = z.object({
  url: z.string(withError('urlInvalid')).trim().pipe(url).meta({ minLength: 1, maxLength: 2048, format: 'uri' }),
  secret: z.string(withError('secretInvalid')).trim().pipe(secret).meta({ maxLength: 1024 }).nullable().optional(),
})

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
  .mutation(async ({ ctx, input: { id, url, secret = null } }) => {
    await setTemplate(ctx, id, { url, secret })
    return { url, hasSecret: secret !== null }
  })

const get = endpoint('GET /apps/{id}/webhook', 'ntf.apps.webhook:read', appDeveloper, {
  summary: 'The webhook of an app',
  description: 'The address, and whether there is a secret. A lost secret cannot be read: set a new one.',
  returns: 'The webhook, or `url: null` when none is set.',
  fails: ['appUnknown'],
})
  .input(app)
  .output(template)
  .query(async ({ ctx, input: { id } }) => showTemplate(await readTemplate(ctx, id)))

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
  .mutation(({ ctx, input: { id } }) => setTemplate(ctx, id, { url: null, secret: null }))

export const webhook = router({ put, get, delete: remove })
