import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client'
import type { Principal } from '../../routers/access.ts'
import { callAs } from '../../routers/core.ts'
import type { AppRouter } from '../../routers/index.ts'
import { firstPartyScopes } from '../../routers/scopes.ts'
import type { World } from './world.ts'
import { id } from './world.ts'

/** The platform's own client in this process: no member, every scope of its own, for the world's provider. */
export const asPlatform = ({ core, ids }: World, claims: Partial<Principal> = {}) =>
  callAs(core, {
    member: null,
    organisation: ids.provider,
    client: ids.platform,
    scopes: new Set(firstPartyScopes),
    ...claims,
  })

/** The claims of its token: without `sub`. */
export const platformClaims = ({ ids }: World, claims: Record<string, unknown> = {}) => ({
  sub: undefined,
  organisation: ids.provider,
  client_id: ids.platform,
  scope: firstPartyScopes.join(' '),
  ...claims,
})

/** The same client over HTTP, on the internal port. */
export const platformClient = (world: World, claims: Record<string, unknown> = {}) =>
  createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `http://127.0.0.1:${world.internalPort}/trpc`,
        headers: async () => ({ authorization: `Bearer ${await world.token(platformClaims(world, claims))}` }),
      }),
    ],
  })

export const ways = ['in this process', 'over HTTP'] as const

/** The first-party procedures of a provider, called in either way. */
export function platform(world: World, way: (typeof ways)[number]) {
  const local = asPlatform(world)
  const { subscriptions, events, deliveries } = platformClient(world)
  const { create, list, remove } = subscriptions
  const remote: Pick<typeof local, 'subscriptions' | 'events' | 'deliveries'> = {
    subscriptions: { create: create.mutate, list: list.query, remove: remove.mutate },
    events: { publish: events.publish.mutate },
    deliveries: { list: deliveries.list.query, retry: deliveries.retry.mutate },
  }
  return way === 'over HTTP' ? remote : local
}

/** Of a call that is refused, what it is told, in this process or over HTTP; fails when it is not refused. */
export async function refusalOf(call: Promise<unknown>) {
  const answered = await call.then(
    (answer) => ({ answer }),
    (error) => ({ error }),
  )
  if ('answer' in answered) throw new Error(`It was not refused: ${JSON.stringify(answered.answer)}`)
  const { error } = answered
  if (!(error instanceof TRPCClientError)) {
    return { status: error.status, code: error.publicCode, reason: error.reason, message: error.message }
  }
  const { httpStatus, error: code, reason } = error.data ?? {}
  return { status: httpStatus, code, reason, message: error.message }
}

/** An app of the world's provider, or of another; active and without a webhook if nothing is said. */
export async function mintApp({ db, ids }: World, more: Record<string, unknown> = {}) {
  const app = id('app')
  await db.app.create({ data: { id: app, name: 'App', teamId: ids.team, providerId: ids.provider, ...more } })
  return app
}

/** Another provider, and an app of it. */
export async function mintOther(world: World) {
  const provider = id('provider')
  await world.db.organisation.create({ data: { id: provider, kind: 'provider', name: 'Other' } })
  return { provider, app: await mintApp(world, { providerId: provider }) }
}
