import { memberEventTypes } from '../../routers/webhooks/event-types.ts'
import { publishMemberEvents } from '../../routers/webhooks/member-events/publish.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'

export const meScopes = Object.values(memberEventTypes).flatMap(({ scope }) => scope ?? [])

interface Consented {
  person: string
  organisation: string
  scopes?: readonly string[]
  createdAt?: Date
}

/** An app of the world's team that receives events, with one client. */
export async function mintSubscribed(world: World, { subscribed = true, ...more }: Record<string, unknown> = {}) {
  const { db, ids } = world
  await db.organisation.createMany({
    data: [{ id: ids.provider, kind: 'provider', name: 'Provider' }],
    skipDuplicates: true,
  })
  const app = id('app')
  await db.app.create({ data: { id: app, name: 'App', teamId: ids.team, providerId: ids.provider, ...more } })
  if (subscribed) {
    await db.subscription.create({ data: { id: id('s'), appId: app, subscriber: 'x', url: 'https://127.0.0.1/' } })
  }
  const mintClient = async () => {
    const client = id('client')
    const of = { appId: app, teamId: ids.team, environment: 'production' as const }
    await db.client.create({ data: { id: client, name: 'Client', scopes: meScopes, ...of } })
    return client
  }
  const client = await mintClient()
  return {
    app,
    client,
    mintClient,
    async consent({ person, organisation, scopes = meScopes, createdAt = new Date() }: Consented, clientId = client) {
      const consent = id('consent')
      await db.consent.create({
        data: { id: consent, personId: person, organisationId: organisation, clientId, scopes: [...scopes], createdAt },
      })
      return consent
    },
    /** What has been published for the app, as type and data, after publishing what is due. */
    async heard() {
      while ((await publishMemberEvents(db, world.core.now())) > 0);
      const rows = await db.publishedEvent.findMany({ where: { appId: app } })
      await db.publishedEvent.deleteMany({ where: { appId: app } })
      return rows
        .map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, string> })
        .sort((a, b) => (a.type < b.type ? -1 : 1))
    },
  }
}

export const listTypes = (events: readonly { type: string }[]) => events.map(({ type }) => type)
