import { z } from 'zod'
import type { Context } from '../../kernel/context.ts'
import { endpoint } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { providerApp } from '../../kernel/policies.ts'
import { router } from '../../kernel/trpc.ts'
import { findFeed } from '../../webhooks/feed/fetch.ts'
import { lockTeam } from '../access/roles.ts'
import { lockApp } from '../webhook/app.ts'
import { address, created, id, settings, state } from './address.ts'
import type { Changer } from './change.ts'
import { createAddress, removeAddress, updateAddress } from './change.ts'
import { listAddresses } from './stored.ts'

type Granted = Context & { app: string; client: string; team: string; provider: string; suspended: boolean }

/** As for `GET /events`: the token of a sandbox client is for the sandbox. */
const findEnvironment = async (ctx: Granted) =>
  (await findFeed(ctx)).tests ? ('sandbox' as const) : ('production' as const)

async function changer(ctx: Granted) {
  const { core, app, client, team } = ctx
  const lock: Changer['lock'] = async (tx) => {
    await lockTeam(tx, team)
    await lockApp(tx, app, errors.appUnknown)
  }
  const author = { person: null, client, at: new Date(core.now()) }
  return { core, app, environment: await findEnvironment(ctx), team, author, lock }
}

const shared = { section: 'sync', fails: ['appUnknown', 'appSuspended'] } as const

const list = endpoint('GET /addresses', 'ntf.apps.webhook:read', providerApp, {
  ...shared,
  summary: 'The addresses of the app',
  description:
    'Where events of the app are sent beside its webhook, each address with its own secret, event types and health. The token of a sandbox client sees and changes the addresses of the sandbox alone, which get the events of the test club.',
  returns: 'The addresses.',
})
  .output(z.object({ items: z.array(address).meta({ description: 'The addresses, oldest first: at most 10.' }) }))
  .query(async ({ ctx }) => ({
    items: await listAddresses(ctx.core.db, { app: ctx.app, environment: await findEnvironment(ctx) }),
  }))

const create = endpoint('POST /addresses', 'ntf.apps.webhook:update', providerApp, {
  ...shared,
  status: 201,
  summary: 'Adds an address of the app',
  description:
    'From then on, events of these types are sent to it. Without `secret`, one is generated; this response alone has it. An app has at most 10 addresses, and its sandbox as many.',
  returns: 'The address and its secret.',
  audited: true,
  fails: [...shared.fails, 'tooManyAddresses'],
})
  .input(settings)
  .output(created)
  .mutation(async ({ ctx, input }) => {
    const by = await changer(ctx)
    return createAddress(by, { ...input, environment: by.environment })
  })

const update = endpoint('PUT /addresses/{addressId}', 'ntf.apps.webhook:update', providerApp, {
  ...shared,
  summary: 'Changes an address of the app',
  description:
    'Replaces address, event types and state. Without `secret`, the stored one stays, for a `url` with its host and port; a replaced one signs beside the new one for 24 hours.',
  returns: 'The address as stored.',
  audited: true,
  fails: [...shared.fails, 'eventAddressUnknown', 'secretNeeded'],
})
  .input(settings.extend({ addressId: id, state }))
  .output(address)
  .mutation(async ({ ctx, input: { addressId, ...wanted } }) => updateAddress(await changer(ctx), addressId, wanted))

const remove = endpoint('DELETE /addresses/{addressId}', 'ntf.apps.webhook:update', providerApp, {
  ...shared,
  status: 204,
  summary: 'Removes an address of the app',
  description: 'Removes the address and its deliveries, also those that are pending.',
  returns: 'It is removed.',
  audited: true,
  fails: [...shared.fails, 'eventAddressUnknown'],
})
  .input(z.object({ addressId: id }))
  .output(z.void())
  .mutation(async ({ ctx, input: { addressId } }) => removeAddress(await changer(ctx), addressId))

/** What an app's server does with the addresses of its own app. */
export const ownAddresses = router({ list, create, update, remove })
