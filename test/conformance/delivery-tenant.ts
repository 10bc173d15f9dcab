import type { Database } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { id } from '../support/tenant.ts'

export type Receiver = Awaited<ReturnType<typeof mintReceiver>>

/** In a year, so that no worker leases it. */
export const later = () => new Date(Date.now() + 365 * 86_400_000)

/** Creates a subscription of `app` and, unless it exists, the event `event` of the type. */
export async function mintReceiver(db: Database, app: string, event = 'e', type = 't') {
  const subscription = id('subscription')
  await db.subscription.create({
    data: { id: subscription, appId: app, subscriber: 's', url: 'https://hooks.example.org' },
  })
  const published = { appId: app, id: event, type, body: '{}', publishedAt: new Date() }
  await db.publishedEvent.createMany({ data: [published], skipDuplicates: true })
  return { app, event, subscription }
}

/** Creates a delivery in any state; pending by default. */
export async function mintDelivery(
  db: Database,
  { app, event, subscription }: Receiver,
  more: Partial<Prisma.DeliveryUncheckedCreateInput> = {},
) {
  const delivery = id('delivery')
  const pending = (more.state ?? 'pending') === 'pending'
  const at = { nextAttemptAt: pending ? later() : null, finishedAt: pending ? null : new Date() }
  const of = { appId: app, eventId: event, subscriptionId: subscription }
  await db.delivery.create({ data: { id: delivery, ...of, ...at, createdAt: new Date(), ...more } })
  return delivery
}
