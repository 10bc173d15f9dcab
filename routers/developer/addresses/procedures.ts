import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { appId } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { router } from '../../kernel/trpc.ts'
import { listEventTypes } from '../../webhooks/event-catalogue.ts'
import { testEventType } from '../../webhooks/event-types.ts'
import type { Caller } from '../access/roles.ts'
import { toAuthor } from '../audit/record.ts'
import { findWebhookApp, lockTemplate } from '../webhook/app.ts'
import { etag, seenEtag } from '../webhook/etag.ts'
import { address, created, environment, id, settings, state } from './address.ts'
import type { Changer } from './change.ts'
import { createAddress, removeAddress, updateAddress } from './change.ts'
import { countEvents, listAddresses, MAX_COUNTED } from './stored.ts'

const input = z.object({ app: appId('app') })

async function changer(ctx: Caller, app: string): Promise<Changer> {
  const { teamId: team } = await findWebhookApp(ctx, app)
  const lock: Changer['lock'] = (tx) => lockTemplate(tx, ctx, { id: app, team })
  return { core: ctx.core, app, environment: null, team, author: toAuthor(ctx), lock }
}

const count = z.int().meta({ description: `Of the last 7 days, among the newest ${MAX_COUNTED} of the type` })

const list = internal('dev:read', teamPeople, {
  summary: 'The addresses of an app and of its sandbox, and what each event type would have sent in the last 7 days',
  fails: ['ownAppUnknown', 'levelTooLow'],
})
  .input(input)
  .output(
    z.object({
      items: z.array(address.extend({ etag })),
      types: z.array(z.object({ type: z.string(), production: count, sandbox: count })),
    }),
  )
  .query(async ({ ctx, input: { app } }) => {
    const { providerId } = await findWebhookApp(ctx, app)
    const { db, now } = ctx.core
    const counts = new Map((await countEvents(db, app, now())).map((row) => [row.type, row]))
    const known = (await listEventTypes(db, providerId)).map(({ type }) => type)
    const items = await listAddresses(db, { app, environment: null })
    const names = new Set([...known, ...counts.keys(), ...items.flatMap(({ types }) => types ?? [])])
    // Addresses get the test event by `webhook.test` alone.
    names.delete(testEventType.type)
    return { items, types: [...names].sort().map((type) => counts.get(type) ?? { type, production: 0, sandbox: 0 }) }
  })

const create = internal('dev:write', teamPeople, {
  summary: 'Adds an address with its own secret and event types; without a secret, one is generated',
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended', 'tooManyAddresses'],
})
  .input(settings.extend({ ...input.shape, environment }))
  .output(created)
  .mutation(async ({ ctx, input: { app, ...wanted } }) => createAddress(await changer(ctx, app), wanted))

const update = internal('dev:write', teamPeople, {
  summary: 'Changes what is given of an address; a replaced secret signs for 24 hours more',
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended', 'eventAddressUnknown', 'changedMeanwhile', 'secretNeeded'],
})
  .input(
    settings
      .extend({ state })
      .partial()
      .extend({ ...input.shape, id, etag: seenEtag }),
  )
  .output(address)
  .mutation(async ({ ctx, input: { app, id, ...wanted } }) => updateAddress(await changer(ctx, app), id, wanted))

const remove = internal('dev:write', teamPeople, {
  summary: 'Removes an address and its deliveries',
  fails: ['ownAppUnknown', 'levelTooLow', 'appSuspended', 'eventAddressUnknown'],
})
  .input(input.extend({ id }))
  .output(z.object({ id: z.string() }))
  .mutation(async ({ ctx, input: { app, id } }) => {
    await removeAddress(await changer(ctx, app), id)
    return { id }
  })

export const addresses = router({ list, create, update, remove })
