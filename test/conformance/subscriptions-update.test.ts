import { beforeEach, describe, expect, it } from 'vitest'
import { columnsOfApp, columnsOfSubscription, noFormer, signingSecrets } from '../../routers/webhooks/stored-secrets.ts'
import { holdApp, holdSubscription, meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp, mintOther, platform, refusalOf, ways } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'

const world = useWorld()
const url = 'https://hooks.example.org/in'
const other = 'https://other.example.org/in'
const HOUR = 3_600

const NO_SUBSCRIPTION = {
  status: 404,
  code: 'not_found',
  message: 'This subscription does not exist at this provider.',
}
const ENDED = { status: 409, reason: 'subscription_ended', message: 'This subscription has ended.' }
const SUSPENDED = { status: 409, reason: 'app_suspended', message: 'This app is suspended.' }

const setWebhook = async (app: string, body: object) =>
  expect((await world.call('PUT', `/apps/${app}/webhook`, { body })).status).toBe(200)
const row = (id: string) => world.db.subscription.findUniqueOrThrow({ where: { id } })
/** Url and secrets of the next attempt. */
async function current(id: string) {
  const stored = await row(id)
  return {
    url: stored.url,
    ...signingSecrets(world.core.cipher, columnsOfSubscription(id), stored, world.core.now()),
  }
}

describe.each(ways)('%s', (way) => {
  let api: ReturnType<typeof platform>
  let app: string
  let id: string
  beforeEach(async () => {
    api = platform(world, way)
    app = await mintApp(world)
    await setWebhook(app, { url, secret: 'first' })
    id = (await api.subscriptions.create({ app, subscriber: 'club-1' })).id
  })

  describe('subscriptions.create', () => {
    it('copies the former secret with its end, and no longer once that is past', async () => {
      await setWebhook(app, { url, secret: 'second' })
      world.advance(23 * HOUR)
      const made = await api.subscriptions.create({ app, subscriber: 'club-2' })
      expect(await current(made.id)).toEqual({ url, secret: 'second', former: 'first' })
      const { formerUntil } = await world.db.app.findUniqueOrThrow({ where: { id: app } })
      expect((await row(made.id)).formerUntil).toEqual(formerUntil)
      world.advance(HOUR)
      const later = await api.subscriptions.create({ app, subscriber: 'club-3' })
      expect([await current(made.id), await row(later.id)]).toMatchObject([
        { secret: 'second', former: null },
        noFormer,
      ])
    })
  })

  describe('subscriptions.update', () => {
    it('takes url and secret of the app over; the former secret signs beside the new one for 24 hours', async () => {
      await setWebhook(app, { url: other, secret: 'second' })
      world.advance(30 * HOUR)
      expect(await current(id)).toEqual({ url, secret: 'first', former: null })
      const updated = await api.subscriptions.update({ id })
      expect(updated).toEqual({ id, app, subscriber: 'club-1', url: other, hasSecret: true })
      expect((await api.subscriptions.list({ app })).items).toEqual([updated])
      world.advance(23 * HOUR)
      expect(await current(id)).toEqual({ url: other, secret: 'second', former: 'first' })
      world.advance(HOUR)
      expect(await current(id)).toEqual({ url: other, secret: 'second', former: null })
    })

    it('changes nothing when it is repeated, and the url alone while the secret stays the same', async () => {
      await setWebhook(app, { url, secret: 'second' })
      const updated = await api.subscriptions.update({ id })
      const before = await row(id)
      world.advance(HOUR)
      expect(await api.subscriptions.update({ id })).toEqual(updated)
      expect(await row(id)).toEqual(before)
      await setWebhook(app, { url: other, secret: 'second' })
      await api.subscriptions.update({ id })
      expect(await row(id)).toEqual({ ...before, url: other })
    })

    it("keeps its own former secret in place of the app's", async () => {
      await setWebhook(app, { url, secret: 'second' })
      await setWebhook(app, { url, secret: 'third' })
      await api.subscriptions.update({ id })
      expect(await current(id)).toEqual({ url, secret: 'third', former: 'first' })
    })

    it('clears both secrets with that of the app, and copies both of the app to one without', async () => {
      await setWebhook(app, { url, secret: 'second' })
      await api.subscriptions.update({ id })
      await setWebhook(app, { url })
      expect(await api.subscriptions.update({ id })).toMatchObject({ url, hasSecret: false })
      expect(await row(id)).toMatchObject({ secret: null, ...noFormer })
      await setWebhook(app, { url, secret: 'third' })
      await setWebhook(app, { url, secret: 'fourth' })
      await api.subscriptions.update({ id })
      expect(await current(id)).toEqual({ url, secret: 'fourth', former: 'third' })
    })

    it('takes over that the app has no webhook: nothing is delivered', async () => {
      expect((await world.call('DELETE', `/apps/${app}/webhook`)).status).toBe(204)
      expect(await api.subscriptions.update({ id })).toMatchObject({ url: null, hasSecret: false })
      expect(await api.events.publish({ app, type: 't', data: 1 })).toMatchObject({ deliveries: 0 })
    })

    it.each(['', 'unknown', 'a\0b', 'x'.repeat(256), '\ud800', 7, null])(
      'returns 404 for the unknown id %j',
      async (id) => {
        const refusal = await refusalOf(api.subscriptions.update({ id: id as never }))
        expect(refusal.status).toBe(typeof id === 'string' ? 404 : 400)
        if (typeof id === 'string') expect(refusal).toMatchObject(NO_SUBSCRIPTION)
      },
    )

    it('returns 404 for a subscription of another provider, and for that of tests, which stay as they are', async () => {
      const neighbour = await mintOther(world)
      const theirs = asPlatform(world, { organisation: neighbour.provider })
      const made = await theirs.subscriptions.create({ app: neighbour.app, subscriber: 'a' })
      await world.db.app.update({ where: { id: neighbour.app }, data: { webhookUrl: other } })
      const test = `test:${app}`
      await world.db.subscription.create({ data: { id: test, appId: app, subscriber: 'test', test: true, url: other } })
      const before = [await row(made.id), await row(test)]
      for (const id of [made.id, test]) {
        expect(await refusalOf(api.subscriptions.update({ id }))).toMatchObject(NO_SUBSCRIPTION)
      }
      expect([await row(made.id), await row(test)]).toEqual(before)
    })

    it('returns 409 for an ended subscription and for a suspended app, and changes nothing', async () => {
      await setWebhook(app, { url: other, secret: 'second' })
      await world.db.subscription.update({ where: { id }, data: { endedAt: new Date() } })
      const ended = await row(id)
      expect(await refusalOf(api.subscriptions.update({ id }))).toMatchObject(ENDED)
      expect(await row(id)).toEqual(ended)
      await world.db.subscription.update({ where: { id }, data: { endedAt: null } })
      await world.db.app.update({ where: { id: app }, data: { state: 'suspended' } })
      expect(await refusalOf(api.subscriptions.update({ id }))).toMatchObject(SUSPENDED)
      expect(await row(id)).toEqual({ ...ended, endedAt: null })
    })
  })
})

describe('subscriptions.update while something else changes', () => {
  let app: string
  let id: string
  beforeEach(async () => {
    app = await mintApp(world)
    await setWebhook(app, { url, secret: 'first' })
    id = (await asPlatform(world).subscriptions.create({ app, subscriber: 'a' })).id
    await setWebhook(app, { url, secret: 'second' })
  })
  const update = () => asPlatform(world).subscriptions.update({ id })
  const sealed = (secret: string) => world.core.cipher.encrypt(secret, columnsOfApp(app).secret)

  it('takes over the webhook that was set meanwhile', async () => {
    const updated = meanwhile(
      world.db,
      async (tx) => {
        await holdApp(tx, app)
        await tx.app.update({ where: { id: app }, data: { webhookUrl: other, webhookSecret: sealed('third') } })
      },
      update,
    )
    expect(await updated).toMatchObject({ url: other })
    expect(await current(id)).toEqual({ url: other, secret: 'third', former: 'first' })
  })

  it('returns 409 when the app is suspended or the subscription ends', async () => {
    const suspended = meanwhile(
      world.db,
      async (tx) => {
        await holdApp(tx, app)
        await tx.app.update({ where: { id: app }, data: { state: 'suspended' } })
      },
      () => refusalOf(update()),
    )
    expect(await suspended).toMatchObject(SUSPENDED)
    await world.db.app.update({ where: { id: app }, data: { state: 'active' } })
    const ended = meanwhile(
      world.db,
      async (tx) => {
        await holdSubscription(tx, id)
        await tx.subscription.update({ where: { id }, data: { endedAt: new Date() } })
      },
      () => refusalOf(update()),
    )
    expect(await ended).toMatchObject(ENDED)
    expect(await current(id)).toEqual({ url, secret: 'first', former: null })
  })

  it('does not bring back a former secret that was ended', async () => {
    await update()
    const updated = meanwhile(
      world.db,
      async (tx) => {
        await holdSubscription(tx, id)
        await tx.subscription.update({ where: { id }, data: noFormer })
      },
      update,
    )
    await updated
    expect(await current(id)).toEqual({ url, secret: 'second', former: null })
  })

  it('keeps the former secret when several run at once', async () => {
    await Promise.all(Array.from({ length: 10 }, update))
    expect(await current(id)).toEqual({ url, secret: 'second', former: 'first' })
  })
})
