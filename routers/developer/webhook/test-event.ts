import { randomUUID } from 'node:crypto'
import type { Transaction } from '../../../prisma/client.ts'
import { errors } from '../../kernel/errors.ts'
import { formatBody } from '../../webhooks/deliveries/request.ts'
import { atOnce } from '../../webhooks/deliveries/retry.ts'
import { copiedSecrets } from '../../webhooks/stored-secrets.ts'
import { pickSecrets } from '../../webhooks/template.ts'
import type { Caller } from '../access/roles.ts'
import { lockTemplate } from './app.ts'

const TESTS_A_MINUTE = 10
const MINUTE_MS = 60_000

/** The subscription for an app's test events: a CHECK in the database makes it the only one. */
const testSubscriptionId = (app: string) => `test:${app}`

/**
 * Stores a test event for the app's webhook; `core.published` sends it once the transaction is over. The locks serialise an app's
 * tests, so that they are counted correctly. Throws 409 for a suspended app and without a webhook, 429 beyond the limit.
 */
export async function publishTestEvent(
  tx: Transaction,
  ctx: Caller,
  { id: app, team }: { id: string; team: string },
  { type, data }: { type: string; data: string },
) {
  const { core } = ctx
  const { webhookUrl: url, ...stored } = await lockTemplate(tx, ctx, { id: app, team })
  if (url === null) throw errors.webhookMissing()

  const now = core.now()
  const subscription = testSubscriptionId(app)
  await refuseBeyond(tx, subscription, now)

  const at = new Date(now)
  const template = { url, ...copiedSecrets(core, app, pickSecrets(stored), subscription), endedAt: null }
  await tx.subscription.upsert({
    where: { id: subscription },
    create: { id: subscription, appId: app, subscriber: 'test', test: true, createdAt: at, ...template },
    update: template,
    select: { id: true },
  })
  const event = randomUUID()
  const body = formatBody({ id: event, type, publishedAt: at.toISOString() }, data)
  await tx.publishedEvent.create({ data: { appId: app, id: event, type, body, publishedAt: at }, select: { id: true } })
  const of = { appId: app, eventId: event, subscriptionId: subscription }
  const delivery = randomUUID()
  await tx.delivery.create({
    data: { id: delivery, ...of, nextAttemptAt: atOnce, createdAt: at },
    select: { id: true },
  })
  return { app, event, deliveries: [delivery] }
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
