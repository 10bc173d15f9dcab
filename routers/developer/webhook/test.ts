import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { withError } from '../../kernel/errors.ts'
import { appId } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { eventTypeList, listEventTypes, readExample } from '../../webhooks/event-catalogue.ts'
import { testEventType } from '../../webhooks/event-types.ts'
import { EVENT_TYPE } from '../../webhooks/rules.ts'
import { findWebhookApp } from './app.ts'
import { publishTestEvent } from './test-event.ts'

const type = z
  .string(withError('eventTypeUnknown'))
  .trim()
  .regex(EVENT_TYPE, withError('eventTypeUnknown'))
  .default(testEventType.type)
  .meta({ description: 'A type from the catalogue; its example is sent' })

export const kinds = internal('dev:read', teamPeople, {
  summary: "An app's event catalogue",
  fails: ['ownAppUnknown', 'levelTooLow'],
})
  .input(z.object({ app: appId('app') }))
  .output(eventTypeList)
  .query(async ({ ctx, input: { app } }) => {
    const { providerId } = await findWebhookApp(ctx, app)
    return { items: await listEventTypes(ctx.core.db, providerId) }
  })

/** The same worker delivers it, with the same signature and retries, and it appears in the same log. */
export const test = internal('dev:write', teamPeople, {
  summary: "Sends a test event to an app's webhook only, not to subscribers",
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended', 'webhookMissing', 'eventTypeUnknown'],
})
  .input(z.object({ app: appId('app'), type }))
  .output(z.object({ delivery: z.string() }))
  .mutation(async ({ ctx, input: { app, type } }) => {
    const { providerId, teamId: team } = await findWebhookApp(ctx, app)
    const { core } = ctx
    const data = await readExample(core.db, providerId, type)
    const made = await core.db.$transaction((tx) => publishTestEvent(tx, ctx, { id: app, team }, { type, data }))
    core.published(made)
    return { delivery: made.deliveries[0]! }
  })
