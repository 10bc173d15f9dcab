import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client'
import { callAs } from '../../routers/core.ts'
import type { AppRouter } from '../../routers/index.ts'
import type { Principal } from '../../routers/kernel/access.ts'
import { firstPartyScopes } from '../../routers/kernel/scopes.ts'
import { id } from './tenant.ts'
import type { World } from './world.ts'

/** Calls procedures in this process as the platform's client: no member, every first-party scope, the world's provider. */
export const asPlatform = ({ core, ids }: World, claims: Partial<Principal> = {}) =>
  callAs(core, {
    member: null,
    organisation: ids.provider,
    client: ids.platform,
    scopes: new Set(firstPartyScopes),
    ...claims,
  })

/** The claims of the platform client's token, which has no `sub`. */
export const platformClaims = ({ ids }: World, claims: Record<string, unknown> = {}) => ({
  sub: undefined,
  organisation: ids.provider,
  client_id: ids.platform,
  scope: firstPartyScopes.join(' '),
  ...claims,
})

/** The platform's client over HTTP, on the internal port. */
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

/** The first-party procedures, called in process or over HTTP. */
export function platform(world: World, way: (typeof ways)[number]) {
  const local = asPlatform(world)
  const { subscriptions, events, deliveries } = platformClient(world)
  const { create, update, list, remove } = subscriptions
  const remote: Pick<typeof local, 'subscriptions' | 'events' | 'deliveries'> = {
    subscriptions: { create: create.mutate, update: update.mutate, list: list.query, remove: remove.mutate },
    events: {
      publish: events.publish.mutate,
      describe: events.describe.mutate,
      undescribe: events.undescribe.mutate,
      kinds: events.kinds.query,
      fetch: events.fetch.query,
    },
    deliveries: { list: deliveries.list.query, retry: deliveries.retry.mutate },
  }
  return way === 'over HTTP' ? remote : local
}

/** The status, code, reason and message of a refused call; throws if the call succeeds. */
export async function readRefusal(call: Promise<unknown>) {
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

/** Creates an app: by default of the world's provider, active and without a webhook. */
export async function mintApp({ db, ids }: Pick<World, 'db' | 'ids'>, more: Record<string, unknown> = {}) {
  const app = id('app')
  await db.app.create({ data: { id: app, name: 'App', teamId: ids.team, providerId: ids.provider, ...more } })
  return app
}

/** Creates another provider with an app. */
export async function mintOther(world: World) {
  const provider = id('provider')
  await world.db.organisation.create({ data: { id: provider, kind: 'provider', name: 'Other' } })
  return { provider, app: await mintApp(world, { providerId: provider }) }
}
