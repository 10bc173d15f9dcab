import { z } from 'zod'
import { isPostgresText } from '../../kernel/access.ts'
import type { Context } from '../../kernel/context.ts'
import { retryingDeadlocks } from '../../kernel/database-errors.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors, withError } from '../../kernel/errors.ts'
import { appId, page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { fromUnix } from '../../kernel/time.ts'
import { router } from '../../kernel/trpc.ts'
import { DELIVERY_HEADERS } from '../../webhooks/deliveries/request.ts'
import { deliveryStates } from '../../webhooks/deliveries/retry.ts'
import { EVENT_TYPE } from '../../webhooks/rules.ts'
import { findWebhookApp } from './app.ts'
import { delivery, deliveryDetails } from './delivery.ts'
import { listDeliveries, subscriptionsStatement, typesStatement } from './delivery-lists.ts'
import { history, MAX_RETRIED, one, resend, retry, retryFailed } from './delivery-statements.ts'

const app = appId('app')
const id = z.string().refine(isPostgresText, withError('ownDeliveryUnknown'))
const time = z
  .int(withError('sinceInvalid'))
  .min(0, withError('sinceInvalid'))
  .max(253_402_300_799, withError('sinceInvalid'))
const state = z.enum(deliveryStates, { error: 'state is pending, delivered or failed.' })
const filterFields = {
  type: z.string(withError('eventTypeInvalid')).regex(EVENT_TYPE, withError('eventTypeInvalid')).optional(),
  subscription: z
    .string()
    .refine(isPostgresText, { error: 'subscription is at most 255 characters, without NUL.' })
    .optional(),
}

/** Newest first. Without a total, as an app may have millions. */
const list = internal('dev:read', teamPeople, {
  summary: 'The deliveries of an app and their results',
  fails: ['ownAppUnknown', 'levelTooLow'],
})
  .input(z.object({ app, state: state.optional(), ...filterFields, ...page }))
  .output(z.object({ items: z.array(delivery), more: z.boolean().meta({ description: 'Whether there are more' }) }))
  .query(async ({ ctx, input: { app, limit, offset, ...filter } }) => {
    await findWebhookApp(ctx, app)
    const rows = await listDeliveries(ctx.core.db, filter, { app, limit: limit + 1, offset })
    return { items: rows.slice(0, limit), more: rows.length > limit }
  })

const filters = internal('dev:read', teamPeople, {
  summary: "What an app's deliveries can be filtered by: up to 50 event types and the 50 newest subscriptions",
  fails: ['ownAppUnknown', 'levelTooLow'],
})
  .input(z.object({ app }))
  .output(z.object({ types: z.array(z.string()), subscriptions: z.array(z.string()) }))
  .query(async ({ ctx, input: { app } }) => {
    await findWebhookApp(ctx, app)
    const { db } = ctx.core
    const [types, subscriptions] = await Promise.all([
      db.execute(typesStatement, { app }),
      db.execute(subscriptionsStatement, { app }),
    ])
    return { types: types.map(({ type }) => type), subscriptions: subscriptions.map(({ id }) => id) }
  })

const get = internal('dev:read', teamPeople, {
  summary: 'A delivery: what was sent, and its last 50 attempts, each with the first 1 KiB of the response',
  fails: ['ownAppUnknown', 'levelTooLow', 'ownDeliveryUnknown'],
})
  .input(z.object({ app, id }))
  .output(deliveryDetails)
  .query(async ({ ctx, input: { app, id } }) => {
    await findWebhookApp(ctx, app)
    const row = await read(ctx, app, id)
    return { ...row, headers: buildHeaders(row), history: await ctx.core.db.execute(history, { id }) }
  })

type Delivery = Awaited<ReturnType<typeof read>>

async function read({ core }: Context, app: string, id: string) {
  const [row] = await core.db.execute(one, { app, id })
  if (!row) throw errors.ownDeliveryUnknown()
  return row
}

/** A secret, and a signature made with it, are shown as null. */
function buildHeaders({ id, url, body, lastAttemptAt, hasSecret }: Delivery): Record<string, string | null> {
  return {
    ...(url !== null && { host: new URL(url).host }),
    ...DELIVERY_HEADERS,
    'content-length': String(Buffer.byteLength(body)),
    'webhook-id': id,
    ...(lastAttemptAt !== null && { 'webhook-timestamp': String(lastAttemptAt) }),
    ...(hasSecret && { 'x-webhook-secret': null, 'webhook-signature': null }),
  }
}

/** Makes a delivery due at once; a failed one starts again with all attempts. */
const retryOne = internal('dev:write', teamPeople, {
  summary: 'Retries a delivery now',
  fails: [
    'ownAppUnknown',
    'levelTooLow',
    'appSuspended',
    'ownDeliveryUnknown',
    'alreadyDelivered',
    'subscriptionEnded',
  ],
})
  .input(z.object({ app, id }))
  .output(delivery)
  .mutation(async ({ ctx, input: { app, id } }) => {
    refuseSuspended(await findWebhookApp(ctx, app))
    const [retried] = await retryingDeadlocks(() => ctx.core.db.execute(retry, { id, owner: app }))
    if (retried) ctx.core.due.wake()
    const row = await read(ctx, app, id)
    if (retried) return row
    throw row.state === 'delivered' ? errors.alreadyDelivered() : errors.subscriptionEnded()
  })

/** The receiver knows an event that it has had by its `webhook-id`. */
const resendOne = internal('dev:write', teamPeople, {
  summary: 'Sends a delivery again, also one that has arrived',
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended', 'ownDeliveryUnknown', 'subscriptionEnded'],
})
  .input(z.object({ app, id }))
  .output(delivery)
  .mutation(async ({ ctx, input: { app, id } }) => {
    refuseSuspended(await findWebhookApp(ctx, app))
    const [resent] = await retryingDeadlocks(() => ctx.core.db.execute(resend, { id, owner: app }))
    if (resent) ctx.core.due.wake()
    const row = await read(ctx, app, id)
    if (!resent) throw errors.subscriptionEnded()
    return row
  })

/** Starts with the oldest. Beyond the limit of one call, the next call continues. */
const retryAllFailed = internal('dev:write', teamPeople, {
  summary: 'Retries all failed deliveries of an app, or those of an event type or a subscription',
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended'],
})
  .input(z.object({ app, since: time, ...filterFields }))
  .output(
    z.object({
      retried: z.int(),
      more: z.boolean().meta({ description: 'Whether more may be left, for another call' }),
    }),
  )
  .mutation(async ({ ctx, input: { app, since, type = null, subscription = null } }) => {
    refuseSuspended(await findWebhookApp(ctx, app))
    const values = { app, since: fromUnix(since), now: ctx.core.now(), type, subscription }
    const { length } = await retryingDeadlocks(() => ctx.core.db.execute(retryFailed, values))
    if (length > 0) ctx.core.due.wake()
    return { retried: length, more: length === MAX_RETRIED }
  })

/** If the app is suspended after this check, nothing changes either: the statements check again. */
function refuseSuspended({ state }: { state: string }) {
  if (state === 'suspended') throw errors.appSuspended()
}

export const deliveries = router({
  list,
  filters,
  get,
  retry: retryOne,
  resend: resendOne,
  retryFailed: retryAllFailed,
})
