import { beforeEach, describe, expect, it } from 'vitest'
import { columnsOfApp, columnsOfSubscription, noFormer, signingSecrets } from '../../routers/webhooks/stored-secrets.ts'
import { holdApp, holdSubscription, meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp, mintOther, platform, readRefusal, ways } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { mintDelivery, mintReceiver } from './delivery-tenant.ts'

const world = useWorld()

const NO_APP = { status: 404, code: 'not_found', message: 'This app does not exist at this provider.' }
const SUSPENDED = { status: 409, code: 'conflict', reason: 'app_suspended', message: 'This app is suspended.' }
const NO_SUBSCRIPTION = {
  status: 404,
  code: 'not_found',
  message: 'This subscription does not exist at this provider.',
}
const SUBSCRIBER = 'subscriber must be 1 to 255 characters without control characters.'
const APP = "app must be 1 to 64 letters, digits, '_' or '-'."
const url = 'https://hooks.example.org/in'

const setWebhook = async (app: string, body: object) =>
  expect((await world.call('PUT', `/apps/${app}/webhook`, { body })).status).toBe(200)
const countSubscriptions = (app: string) => world.db.subscription.count({ where: { appId: app } })

/** A row of Subscription with its secret decrypted. */
async function readRow(subscription: string) {
  const { secret, ...row } = await world.db.subscription.findUniqueOrThrow({ where: { id: subscription } })
  const text = secret === null ? null : world.core.cipher.decrypt(secret, `Subscription.secret:${subscription}`)
  return { ...row, sealed: secret, secret: text }
}

describe.each(ways)('%s', (way) => {
  let api: ReturnType<typeof platform>
  let app: string
  beforeEach(async () => {
    api = platform(world, way)
    app = await mintApp(world)
  })

  describe('subscriptions.create', () => {
    it('copies url and secret of the app', async () => {
      await setWebhook(app, { url, secret: 's3cret' })
      const before = world.core.now()
      const made = await api.subscriptions.create({ app, subscriber: 'club-1' })
      const after = world.core.now()
      expect(made).toEqual({ id: expect.any(String), app, subscriber: 'club-1', url, hasSecret: true })
      const { webhookSecret } = await world.db.app.findUniqueOrThrow({ where: { id: app } })
      const { sealed, createdAt, ...row } = await readRow(made.id)
      expect(row).toEqual({
        id: made.id,
        appId: app,
        subscriber: 'club-1',
        url,
        secret: 's3cret',
        formerSecret: null,
        formerUntil: null,
        secretCopiedAt: null,
        endedAt: null,
        alarm: null,
        test: false,
        address: false,
        types: [],
        paused: false,
      })
      expect(sealed).not.toBe(webhookSecret)
      expect(createdAt.getTime()).toBeGreaterThanOrEqual(before)
      expect(createdAt.getTime()).toBeLessThanOrEqual(after)
    })

    it('copies a missing secret and a missing url', async () => {
      const without = await api.subscriptions.create({ app, subscriber: 'a' })
      expect(without).toEqual({ id: without.id, app, subscriber: 'a', url: null, hasSecret: false })
      expect(await readRow(without.id)).toMatchObject({ url: null, secret: null })
      await setWebhook(app, { url })
      const withUrl = await api.subscriptions.create({ app, subscriber: 'a' })
      expect(withUrl).toMatchObject({ url, hasSecret: false })
      expect(await readRow(withUrl.id)).toMatchObject({ url, secret: null })
    })

    it('keeps its copy when the app changes', async () => {
      const other = 'https://other.example.org'
      await setWebhook(app, { url, secret: 'first' })
      const first = await api.subscriptions.create({ app, subscriber: 'a' })
      await setWebhook(app, { url: other, secret: 'second' })
      const second = await api.subscriptions.create({ app, subscriber: 'a' })
      expect((await world.call('DELETE', `/apps/${app}/webhook`)).status).toBe(204)
      const third = await api.subscriptions.create({ app, subscriber: 'a' })
      expect(await readRow(first.id)).toMatchObject({ url, secret: 'first' })
      expect(await readRow(second.id)).toMatchObject({ url: other, secret: 'second' })
      expect(await readRow(third.id)).toMatchObject({ url: null, secret: null })
      expect(new Set([first.id, second.id, third.id]).size).toBe(3)
      expect((await api.subscriptions.list({ app })).items).toEqual([first, second, third])
    })

    it.each(['x', ' ', 'ä'.repeat(255), '😀'.repeat(255), 'a "b" \\ c'])(
      'accepts the subscriber %s',
      async (subscriber) => {
        const made = await api.subscriptions.create({ app, subscriber })
        expect(made.subscriber).toBe(subscriber)
        expect(await readRow(made.id)).toMatchObject({ subscriber })
      },
    )

    it.each(['', 'x'.repeat(256), 'a\nb', '\0', '\u007f', '\u0085', '\ud800', 7, null, undefined])(
      'returns 400 for the subscriber %j',
      async (subscriber) => {
        const refusal = await readRefusal(api.subscriptions.create({ app, subscriber: subscriber as never }))
        expect(refusal).toEqual({ status: 400, code: 'invalid_request', reason: undefined, message: SUBSCRIBER })
        expect(await countSubscriptions(app)).toBe(0)
      },
    )
  })

  describe('subscriptions.list', () => {
    it('returns active subscriptions, oldest first, in pages', async () => {
      const made: string[] = []
      for (const subscriber of ['c', 'a', 'b', 'd']) {
        made.push((await api.subscriptions.create({ app, subscriber })).id)
        world.advance(1)
      }
      await world.db.subscription.update({ where: { id: made[1]! }, data: { endedAt: new Date() } })
      const other = await mintApp(world)
      await api.subscriptions.create({ app: other, subscriber: 'of another app' })
      const names = async (page: object = {}) => {
        const { items, total } = await api.subscriptions.list({ app, ...page })
        return [total, ...items.map(({ subscriber }) => subscriber)]
      }
      expect(await names()).toEqual([3, 'c', 'b', 'd'])
      expect(await names({ limit: 1, offset: 1 })).toEqual([3, 'b'])
      expect(await names({ limit: 200, offset: 2 })).toEqual([3, 'd'])
      expect(await names({ offset: Number.MAX_SAFE_INTEGER })).toEqual([3])
    })

    it('sorts subscriptions of one moment by id, 50 by default', async () => {
      const createdAt = new Date()
      const ids = Array.from({ length: 60 }, () => id('subscription'))
      await world.db.subscription.createMany({
        data: ids.map((id) => ({ id, appId: app, subscriber: 's', createdAt })),
      })
      const { items, total } = await api.subscriptions.list({ app })
      expect([total, ...items.map(({ id }) => id)]).toEqual([60, ...ids.sort().slice(0, 50)])
    })

    it.each([
      [{ limit: 0 }, 'limit is 1 to 200.'],
      [{ limit: 201 }, 'limit is 1 to 200.'],
      [{ limit: '5' }, 'limit is 1 to 200.'],
      [{ offset: -1 }, 'offset is 0 or more.'],
      [{ offset: 1.5 }, 'offset is 0 or more.'],
    ])('returns 422 for %j', async (page, message) => {
      const refusal = await readRefusal(api.subscriptions.list({ app, ...(page as object) }))
      expect(refusal).toMatchObject({ status: 422, code: 'invalid_request', message })
    })
  })

  describe('subscriptions.remove', () => {
    it('removes the subscription and its deliveries, and no others', async () => {
      await setWebhook(app, { url })
      const [gone, stays] = [
        await api.subscriptions.create({ app, subscriber: 'a' }),
        await api.subscriptions.create({ app, subscriber: 'a' }),
      ]
      const publish = () => api.events.publish({ app, type: 't', data: 1, id: 'e' })
      expect(await reportingDue(world.core, publish)).toEqual({ id: 'e', deliveries: 2 })
      expect(await api.subscriptions.remove({ id: gone.id })).toEqual({ id: gone.id })
      expect((await api.subscriptions.list({ app })).items).toEqual([stays])
      const left = await world.db.delivery.findMany({ where: { appId: app } })
      expect(left.map(({ subscriptionId }) => subscriptionId)).toEqual([stays.id])
      expect(await readRefusal(api.subscriptions.remove({ id: gone.id }))).toMatchObject(NO_SUBSCRIPTION)
    })

    it('removes an ended subscription', async () => {
      const { id } = await api.subscriptions.create({ app, subscriber: 'a' })
      await world.db.subscription.update({ where: { id }, data: { endedAt: new Date() } })
      expect(await api.subscriptions.remove({ id })).toEqual({ id })
      expect(await countSubscriptions(app)).toBe(0)
    })

    it.each(['', 'unknown', 'a\0b', 'x'.repeat(256), '\ud800'])('returns 404 for the unknown id %j', async (id) => {
      expect(await readRefusal(api.subscriptions.remove({ id }))).toMatchObject(NO_SUBSCRIPTION)
    })

    it('returns 404 for a subscription of another provider', async () => {
      const other = await mintOther(world)
      const theirs = asPlatform(world, { organisation: other.provider })
      const { id } = await theirs.subscriptions.create({ app: other.app, subscriber: 'a' })
      expect(await readRefusal(api.subscriptions.remove({ id }))).toMatchObject(NO_SUBSCRIPTION)
      expect(await countSubscriptions(other.app)).toBe(1)
    })
  })

  describe('the app of a subscription', () => {
    it('returns 404 when it is unknown or of another provider', async () => {
      const other = await mintOther(world)
      for (const app of [id('app'), other.app]) {
        expect(await readRefusal(api.subscriptions.create({ app, subscriber: 'a' }))).toMatchObject(NO_APP)
        expect(await readRefusal(api.subscriptions.list({ app }))).toMatchObject(NO_APP)
      }
      expect(await countSubscriptions(other.app)).toBe(0)
    })

    it('accepts no new subscriptions while suspended, but lists and removes', async () => {
      const { id } = await api.subscriptions.create({ app, subscriber: 'a' })
      await world.db.app.update({ where: { id: app }, data: { state: 'suspended' } })
      expect(await readRefusal(api.subscriptions.create({ app, subscriber: 'b' }))).toMatchObject(SUSPENDED)
      expect(await api.subscriptions.list({ app })).toMatchObject({ items: [{ id }], total: 1 })
      await api.subscriptions.remove({ id })
      expect(await countSubscriptions(app)).toBe(0)
    })

    it.each(['', 'a.b', 'a\0b', 'x'.repeat(65), 7, undefined])(
      'is refused with the malformed id %j',
      async (malformed) => {
        const app = malformed as never
        const created = await readRefusal(api.subscriptions.create({ app, subscriber: 'a' }))
        expect(created).toMatchObject({ status: 400, code: 'invalid_request', message: APP })
        expect(await readRefusal(api.subscriptions.list({ app }))).toMatchObject({ status: 422, message: APP })
      },
    )
  })
})

describe('subscriptions.create while the app changes', () => {
  let app: string
  beforeEach(async () => {
    app = await mintApp(world)
    await setWebhook(app, { url, secret: 'before' })
  })
  const create = () => asPlatform(world).subscriptions.create({ app, subscriber: 'a' })

  it.each([
    { changes: 'both', webhookUrl: 'https://after.example.org' },
    { changes: 'the secret alone', webhookUrl: url },
  ])('copies url and secret of one version while $changes changes', async ({ webhookUrl }) => {
    const made = meanwhile(
      world.db,
      async (tx) => {
        await holdApp(tx, app)
        const webhookSecret = world.core.cipher.encrypt('after', `App.webhookSecret:${app}`)
        await tx.app.update({ where: { id: app }, data: { webhookUrl, webhookSecret } })
      },
      create,
    )
    expect(await readRow((await made).id)).toMatchObject({ url: webhookUrl, secret: 'after' })
    expect(await countSubscriptions(app)).toBe(1)
  })

  it('returns 409 when the app is suspended', async () => {
    const refused = meanwhile(
      world.db,
      async (tx) => {
        await holdApp(tx, app)
        await tx.app.update({ where: { id: app }, data: { state: 'suspended' } })
      },
      () => readRefusal(create()),
    )
    expect(await refused).toMatchObject(SUSPENDED)
    expect(await countSubscriptions(app)).toBe(0)
  })

  it('returns 404 when the app is removed', async () => {
    const refused = meanwhile(
      world.db,
      (tx) => tx.app.delete({ where: { id: app } }),
      () => readRefusal(create()),
    )
    expect(await refused).toMatchObject(NO_APP)
  })
})

describe('subscriptions.remove while a worker ends the subscription', () => {
  it('is repeated after a deadlock', async () => {
    const receiver = await mintReceiver(world.db, await mintApp(world))
    const delivery = await mintDelivery(world.db, receiver)
    const { subscription } = receiver
    const removed = meanwhile(
      world.db,
      (tx) => tx.delivery.update({ where: { id: delivery }, data: { lastError: 'gone' } }),
      () => asPlatform(world).subscriptions.remove({ id: subscription }),
      { goOn: (tx) => tx.subscription.update({ where: { id: subscription }, data: { endedAt: new Date() } }) },
    )
    expect(await removed).toEqual({ id: subscription })
    expect(await world.db.delivery.count({ where: { id: delivery } })).toBe(0)
  })
})

const other = 'https://other.example.org/in'
const HOUR = 3_600
const ENDED = { status: 409, reason: 'subscription_ended', message: 'This subscription has ended.' }
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
        const refusal = await readRefusal(api.subscriptions.update({ id: id as never }))
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
        expect(await readRefusal(api.subscriptions.update({ id }))).toMatchObject(NO_SUBSCRIPTION)
      }
      expect([await row(made.id), await row(test)]).toEqual(before)
    })

    it('returns 409 for an ended subscription and for a suspended app, and changes nothing', async () => {
      await setWebhook(app, { url: other, secret: 'second' })
      await world.db.subscription.update({ where: { id }, data: { endedAt: new Date() } })
      const ended = await row(id)
      expect(await readRefusal(api.subscriptions.update({ id }))).toMatchObject(ENDED)
      expect(await row(id)).toEqual(ended)
      await world.db.subscription.update({ where: { id }, data: { endedAt: null } })
      await world.db.app.update({ where: { id: app }, data: { state: 'suspended' } })
      expect(await readRefusal(api.subscriptions.update({ id }))).toMatchObject(SUSPENDED)
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
      () => readRefusal(update()),
    )
    expect(await suspended).toMatchObject(SUSPENDED)
    await world.db.app.update({ where: { id: app }, data: { state: 'active' } })
    const ended = meanwhile(
      world.db,
      async (tx) => {
        await holdSubscription(tx, id)
        await tx.subscription.update({ where: { id }, data: { endedAt: new Date() } })
      },
      () => readRefusal(update()),
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
