import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Transaction } from '../../../prisma/client.ts'
import { appId } from '../../kernel/app-id.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors, withError } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { bodyOf } from '../../webhooks/deliveries/request.ts'
import { atOnce } from '../../webhooks/deliveries/retry.ts'
import { exampleOf, kindList, kindsOf } from '../../webhooks/event-catalogue.ts'
import { testKind } from '../../webhooks/event-kinds.ts'
import { EVENT_TYPE } from '../../webhooks/rules.ts'
import { reencryptedFor } from '../../webhooks/subscriptions.ts'
import type { Caller } from '../teams/team-of.ts'
import { lockTemplate, webhookAppOf } from './webhook-app.ts'

const TESTS_A_MINUTE = 10
const MINUTE_MS = 60_000

/** The subscription for an app's test events: a CHECK in the database makes it the only one. */
const testSubscriptionOf = (app: string) => `test:${app}`

const type = z
  .string(withError('eventTypeUnknown'))
  .regex(EVENT_TYPE, withError('eventTypeUnknown'))
  .default(testKind.type)
  .meta({ description: 'A type from the catalogue; its example is sent' })

export const kinds = internal('dev:read', teamPeople, {
  summary: "An app's event catalogue",
  fails: ['ownAppUnknown', 'levelTooLow'],
})
  .input(z.object({ app: appId('app') }))
  .output(kindList)
  .query(async ({ ctx, input: { app } }) => {
    const { providerId } = await webhookAppOf(ctx, app)
    return { items: await kindsOf(ctx.core.db, providerId) }
  })

/** The same worker delivers it, with the same signature and retries, and it appears in the same log. */
export const test = internal('dev:write', teamPeople, {
  summary: "Sends a test event to an app's webhook only, not to subscribers",
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended', 'webhookMissing', 'eventTypeUnknown'],
})
  .input(z.object({ app: appId('app'), type }))
  .output(z.object({ delivery: z.string() }))
  .mutation(async ({ ctx, input: { app, type } }) => {
    const { providerId, teamId: team } = await webhookAppOf(ctx, app)
    const { core } = ctx
    const data = await exampleOf(core.db, providerId, type)
    const made = await core.db.$transaction((tx) => publish(tx, ctx, { id: app, team }, { type, data }))
    core.published({ app, event: made.event, deliveries: [made.delivery] })
    return { delivery: made.delivery }
  })

/** The locks serialise an app's tests, so that they are counted correctly. */
async function publish(
  tx: Transaction,
  ctx: Caller,
  { id: app, team }: { id: string; team: string },
  { type, data }: { type: string; data: string },
) {
  const { core } = ctx
  const { webhookUrl: url, webhookSecret } = await lockTemplate(tx, ctx, { id: app, team })
  if (url === null) throw errors.webhookMissing()

  const now = core.now()
  const subscription = testSubscriptionOf(app)
  await refuseBeyond(tx, subscription, now)

  const at = new Date(now)
  const secret = webhookSecret === null ? null : reencryptedFor(core.cipher, webhookSecret, app, subscription)
  const template = { url, secret, endedAt: null }
  await tx.subscription.upsert({
    where: { id: subscription },
    create: { id: subscription, appId: app, subscriber: 'test', test: true, createdAt: at, ...template },
    update: template,
    select: { id: true },
  })
  const event = randomUUID()
  const body = bodyOf({ id: event, type, publishedAt: at.toISOString() }, data)
  await tx.publishedEvent.create({ data: { appId: app, id: event, type, body, publishedAt: at }, select: { id: true } })
  const of = { appId: app, eventId: event, subscriptionId: subscription }
  const delivery = randomUUID()
  await tx.delivery.create({
    data: { id: delivery, ...of, nextAttemptAt: atOnce, createdAt: at },
    select: { id: true },
  })
  return { event, delivery }
}

async function refuseBeyond(tx: Transaction, subscriptionId: string, now: number) {
  const last = await tx.delivery.findMany({
    where: { subscriptionId, createdAt: { gt: new Date(now - MINUTE_MS) } },
    orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    take: TESTS_A_MINUTE,
    select: { createdAt: true },
  })
  if (last.length < TESTS_A_MINUTE) return
  const next = last.at(-1)!.createdAt.getTime() + MINUTE_MS
  throw errors.testsLimited(Math.max(1, Math.ceil((next - now) / 1_000)))
}
