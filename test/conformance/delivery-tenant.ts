import type { Database } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { id } from '../support/world.ts'

export type Receiver = Awaited<ReturnType<typeof mintReceiver>>

/** In a year: until then no worker takes it. */
export const later = () => new Date(Date.now() + 365 * 86_400_000)

/** A subscription of an app, and an event of it, which several may share. */
export async function mintReceiver(db: Database, app: string, event = 'e') {
  const subscription = id('subscription')
  await db.subscription.create({
    data: { id: subscription, appId: app, subscriber: 's', url: 'https://hooks.example.org' },
  })
  const published = { appId: app, id: event, type: 't', body: '{}', publishedAt: new Date() }
  await db.publishedEvent.createMany({ data: [published], skipDuplicates: true })
  return { app, event, subscription }
}

/** A delivery as a worker may have left it; pending, if nothing is said. */
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
