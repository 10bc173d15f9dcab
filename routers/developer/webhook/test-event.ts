import { randomUUID } from 'node:crypto'
import type { Transaction } from '../../../prisma/client.ts'
import { errors } from '../../kernel/errors.ts'
import { retryAfterSeconds } from '../../kernel/time.ts'
import { formatBody } from '../../webhooks/deliveries/request.ts'
import { atOnce } from '../../webhooks/deliveries/retry.ts'
import type { Caller } from '../access/roles.ts'
import { lockTemplate } from './app.ts'
import { storeTestSubscription, testSubscriptionId } from './test-subscription.ts'

const TESTS_A_MINUTE = 10
const MINUTE_MS = 60_000
/** Begins the id of a test event: an address gets other events too, and one of the sandbox those of the test club. */
const TEST_ID = 'test-'

/**
 * Stores a test event for the app's webhook, or for one of its addresses; `core.published` sends it once the transaction is over. The
 * locks serialise an app's tests, so that they are counted correctly. Throws 409 for a suspended app, without a webhook, and for an
 * address that has ended, 429 beyond the limit.
 */
export async function publishTestEvent(
  tx: Transaction,
  ctx: Caller,
  { id: app, team }: { id: string; team: string },
  { type, data, address }: { type: string; data: string; address?: string | undefined },
) {
  const { core } = ctx
  const { webhookUrl, ...stored } = await lockTemplate(tx, ctx, { id: app, team })
  if (address !== undefined) await refuseEnded(tx, { id: address, appId: app })
  else if (webhookUrl === null) throw errors.webhookMissing()

  const now = core.now()
  const subscription = address ?? testSubscriptionId(app)
  await refuseBeyond(tx, subscription, now)

  const at = new Date(now)
  if (address === undefined) await storeTestSubscription(tx, core, app, { webhookUrl: webhookUrl!, ...stored })
  const event = TEST_ID + randomUUID()
  const body = formatBody({ id: event, type, publishedAt: at.toISOString() }, data)
  const published = { appId: app, id: event, type, body, publishedAt: at, isTest: true }
  await tx.publishedEvent.create({ data: published, select: { id: true } })
  const of = { appId: app, eventId: event, subscriptionId: subscription }
  const delivery = randomUUID()
  await tx.delivery.create({
    data: { id: delivery, ...of, nextAttemptAt: atOnce, createdAt: at },
    select: { id: true },
  })
  return { app, event, deliveries: [delivery] }
}

async function refuseEnded(tx: Transaction, where: { id: string; appId: string }) {
  const found = await tx.subscription.findFirst({ where: { ...where, address: true }, select: { endedAt: true } })
  if (!found) throw errors.eventAddressUnknown()
  if (found.endedAt) throw errors.eventAddressEnded()
}

async function refuseBeyond(tx: Transaction, subscriptionId: string, now: number) {
  const last = await tx.delivery.findMany({
    where: {
      subscriptionId,
      createdAt: { gt: new Date(now - MINUTE_MS) },
      // The platform may give an event of its own such an id.
      event: { isTest: true, id: { startsWith: TEST_ID } },
    },
    orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
    take: TESTS_A_MINUTE,
    select: { createdAt: true },
  })
  if (last.length < TESTS_A_MINUTE) return
  const next = last.at(-1)!.createdAt.getTime() + MINUTE_MS
  throw errors.testsLimited(retryAfterSeconds(next - now))
}
