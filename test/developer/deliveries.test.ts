import { beforeEach, describe, expect, it } from 'vitest'
import { toUnix } from '../../routers/kernel/time.ts'
import { buildHeaders } from '../../server/webhooks/send/message.ts'
import type { Receiver } from '../conformance/delivery-tenant.ts'
import { later, mintDelivery, mintReceiver } from '../conformance/delivery-tenant.ts'
import { mintApp, readRefusal } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { mintTeam } from './team.ts'

const UNKNOWN = { status: 404, message: 'This delivery does not exist.' }

const world = useWorld()
let mine: Awaited<ReturnType<typeof mintTeam>>
let receiver: Receiver
beforeEach(async () => {
  mine = await mintTeam(world)
  receiver = await mintReceiver(world.db, mine.app)
})

const readRow = (id: string) => world.db.delivery.findUniqueOrThrow({ where: { id } })
const minutesAgo = (minutes: number) => new Date(world.core.now() - minutes * 60_000)
const gone = { lastStatus: 500, lastError: 'status 500', attempts: 8 }

describe('developer.deliveries.list', () => {
  it('has the deliveries of all subscriptions of the app, newest first', async () => {
    const { app, api } = mine
    const second = await mintReceiver(world.db, app)
    const old = await mintDelivery(world.db, receiver, { state: 'failed', createdAt: minutesAgo(9), ...gone })
    const young = await mintDelivery(world.db, second, { createdAt: minutesAgo(1) })
    const between = await mintDelivery(world.db, receiver, {
      state: 'delivered',
      createdAt: minutesAgo(5),
      lastStatus: 204,
    })
    await mintDelivery(world.db, await mintReceiver(world.db, await mintApp(world, { teamId: mine.team })))

    const { items, more } = await api.deliveries.list({ app })
    expect([items.map(({ id }) => id), more]).toEqual([[young, between, old], false])
    const { createdAt, finishedAt } = await readRow(old)
    expect(items[2]).toEqual({
      id: old,
      event: 'e',
      type: 't',
      subscription: receiver.subscription,
      test: false,
      state: 'failed',
      ...gone,
      createdAt: toUnix(createdAt),
      lastAttemptAt: null,
      nextAttemptAt: null,
      finishedAt: toUnix(finishedAt!),
    })
  })

  it('has those of a state, with those under way', async () => {
    const { app, api } = mine
    const wanted = {
      failed: [await mintDelivery(world.db, receiver, { state: 'failed' })],
      delivered: [await mintDelivery(world.db, receiver, { state: 'delivered' })],
      pending: [
        await mintDelivery(world.db, receiver, { lease: 'worker', leasedUntil: later(), createdAt: minutesAgo(-1) }),
        await mintDelivery(world.db, receiver),
      ],
    }
    for (const state of ['failed', 'delivered', 'pending'] as const) {
      const { items } = await api.deliveries.list({ app, state })
      expect([state, items.map(({ id }) => id)]).toEqual([state, wanted[state]])
    }
  })

  it.each([undefined, 'failed'] as const)('has pages (state %s)', async (state) => {
    const { app, api } = mine
    const second = await mintReceiver(world.db, app)
    const ids: string[] = []
    for (const n of [1, 2, 3, 4, 5]) {
      ids.push(await mintDelivery(world.db, n % 2 ? receiver : second, { state: 'failed', createdAt: minutesAgo(n) }))
    }
    const page = async (offset: number) => {
      const { items, more } = await api.deliveries.list({ app, limit: 2, offset, ...(state && { state }) })
      return [items.map(({ id }) => id), more]
    }
    expect(await page(0)).toEqual([ids.slice(0, 2), true])
    expect(await page(2)).toEqual([ids.slice(2, 4), true])
    expect(await page(4)).toEqual([ids.slice(4), false])
  })

  it('marks test events', async () => {
    const { app, api } = mine
    await api.webhook.set({ app, url: 'https://hooks.example.org' })
    const { delivery } = await api.webhook.test({ app })
    const { items } = await api.deliveries.list({ app })
    expect(items).toMatchObject([{ id: delivery, type: 'webhook.test', test: true, state: 'pending' }])
  })
})

describe('a filter of developer.deliveries.list', () => {
  it('selects by state, type and subscription, in any combination, with pages', async () => {
    const { app, api } = mine
    const [one, two] = [receiver, await mintReceiver(world.db, app)]
    const joined = await mintReceiver(world.db, app, 'e2', 'joined')
    const made: { id: string; state: string; type: string; subscription: string }[] = []
    for (const [event, type] of [
      ['e', 't'],
      ['e2', 'joined'],
    ] as const) {
      for (const { subscription } of [one, two]) {
        for (const state of ['pending', 'delivered', 'failed'] as const) {
          const id = await mintDelivery(
            world.db,
            { app, event, subscription },
            { state, createdAt: minutesAgo(made.length) },
          )
          made.push({ id, state, type, subscription })
        }
      }
    }
    const [state, type, subscription] = [
      [undefined, 'pending', 'delivered', 'failed'] as const,
      [undefined, 't', 'joined', 'never'] as const,
      [undefined, one.subscription, two.subscription, joined.subscription, id('none')] as const,
    ]
    const filters = state.flatMap((state) =>
      type.flatMap((type) => subscription.map((subscription) => ({ state, type, subscription }))),
    )
    for (const filter of filters) {
      const given = Object.entries(filter).filter(([, value]) => value !== undefined)
      const wanted = made.filter((one) => given.every(([name, value]) => one[name as keyof typeof one] === value))
      const listed = async (more: { limit?: number; offset?: number }) => {
        const { items } = await api.deliveries.list({ app, ...Object.fromEntries(given), ...more })
        return items.map(({ id }) => id)
      }
      const ids = wanted.map(({ id }) => id)
      expect([filter, await listed({})]).toEqual([filter, ids])
      expect([filter, await listed({ limit: 1, offset: 1 })]).toEqual([filter, ids.slice(1, 2)])
    }
  })

  it('finds nothing of the subscriptions and types of another team', async () => {
    const theirs = await mintTeam(world)
    const other = await mintReceiver(world.db, theirs.app, 'e', 'secret')
    await mintDelivery(world.db, other, { state: 'failed' })
    const { app, api } = mine
    for (const filter of [{ subscription: other.subscription }, { type: 'secret' }]) {
      for (const state of [undefined, 'pending', 'delivered', 'failed'] as const) {
        expect(await api.deliveries.list({ app, ...filter, ...(state && { state }) })).toEqual({
          items: [],
          more: false,
        })
      }
    }
  })

  it.each<[object, [number, number], string]>([
    [{ type: '' }, [400, 400], "type must be 1 to 128 letters, digits, '.', '_' or '-'."],
    [{ type: "t' OR true --" }, [400, 400], "type must be 1 to 128 letters, digits, '.', '_' or '-'."],
    [{ subscription: 'a\0b' }, [422, 400], 'subscription is at most 255 characters, without NUL.'],
    [{ subscription: 'x'.repeat(256) }, [422, 400], 'subscription is at most 255 characters, without NUL.'],
  ])('is refused when it is %j, by retryFailed too', async (filter, [listed, retried], message) => {
    const { app, api } = mine
    const failed = await mintDelivery(world.db, receiver, { state: 'failed' })
    const before = await readRow(failed)
    expect(await readRefusal(api.deliveries.list({ app, ...filter }))).toMatchObject({ status: listed, message })
    expect(await readRefusal(api.deliveries.retryFailed({ app, since: 0, ...filter }))).toMatchObject({
      status: retried,
      message,
    })
    expect(await readRow(failed)).toEqual(before)
  })
})

describe('developer.deliveries.filters', () => {
  it("has the types of the app's events, and its subscriptions without who subscribes", async () => {
    const { app, api } = mine
    const old = { createdAt: minutesAgo(9), subscriber: 'riverside-4712' }
    await world.db.subscription.update({ where: { id: receiver.subscription }, data: old })
    const young = await mintReceiver(world.db, app, 'e2', 'joined')
    await mintReceiver(world.db, (await mintTeam(world)).app, 'e', 'secret')
    const { types, subscriptions } = await api.deliveries.filters({ app })
    expect(types).toEqual(['joined', 't'])
    expect(subscriptions).toEqual([young.subscription, receiver.subscription])
  })

  it('offers at most 50 of each', async () => {
    const { app, api } = mine
    const published = { appId: app, body: '{}', publishedAt: minutesAgo(1) }
    const numbers = Array.from({ length: 60 }, (_, n) => n + 100)
    await world.db.publishedEvent.createMany({
      data: numbers.map((n) => ({ ...published, id: `n${n}`, type: `n${n}` })),
    })
    await world.db.subscription.createMany({
      data: numbers.map((n) => ({ id: `${app}${n}`, appId: app, subscriber: 's', createdAt: minutesAgo(-n) })),
    })
    const { types, subscriptions } = await api.deliveries.filters({ app })
    expect(types).toEqual(numbers.slice(0, 50).map((n) => `n${n}`))
    expect(subscriptions).toEqual(
      numbers
        .toReversed()
        .slice(0, 50)
        .map((n) => `${app}${n}`),
    )
  })

  it("returns 404 for another team's app", async () => {
    const { app } = await mintTeam(world)
    expect(await readRefusal(mine.api.deliveries.filters({ app }))).toMatchObject({ status: 404 })
  })
})

describe('developer.deliveries.get', () => {
  it('has what was sent and answered, without the secret and who subscribes', async () => {
    const { app, api } = mine
    const secret = world.core.cipher.encrypt('s3cret-4711', `Subscription.secret:${receiver.subscription}`)
    const url = 'https://hooks.example.org:8443/in?token=x'
    const data = { secret, url, subscriber: 'riverside-4712' }
    await world.db.subscription.update({ where: { id: receiver.subscription }, data })
    const lastAttemptAt = minutesAgo(2)
    const sent = await mintDelivery(world.db, receiver, {
      state: 'failed',
      ...gone,
      lastAnswer: 'oh no',
      lastAttemptAt,
    })
    const found = await api.deliveries.get({ app, id: sent })
    expect(found).toMatchObject({ id: sent, body: '{}', answer: 'oh no', url, lastAttemptAt: toUnix(lastAttemptAt) })

    const message = { id: sent, url, secret: 's3cret-4711', body: '{}' }
    const really = buildHeaders(message, 'hooks.example.org:8443', lastAttemptAt.getTime())
    const hidden = { 'x-webhook-secret': null, 'webhook-signature': null }
    const texts = Object.entries(really).map(([name, value]) => [name, String(value)])
    expect(found.headers).toEqual({ ...Object.fromEntries(texts), ...hidden })
    expect(JSON.stringify(found)).not.toMatch(/471[12]/)
  })

  it('has its attempts, the last first', async () => {
    const sent = await mintDelivery(world.db, receiver, { state: 'failed', ...gone })
    const at = minutesAgo(2)
    const [first, second] = [
      { number: 1, durationMs: 5_004, status: null, error: 'connect timeout', answer: null },
      { number: 2, durationMs: 31, status: 500, error: 'status 500', answer: 'oh <no>' },
    ] as const
    await world.db.deliveryAttempt.createMany({
      data: [first, second].map((one) => ({ ...one, at, deliveryId: sent })),
    })
    const { history, attempts } = await mine.api.deliveries.get({ app: mine.app, id: sent })
    expect(history).toEqual([second, first].map((one) => ({ ...one, at: toUnix(at) })))
    expect(attempts).toBe(8)
  })

  it('has no time of an attempt and no answer before the first', async () => {
    const waiting = await mintDelivery(world.db, receiver)
    const { answer, headers, history } = await mine.api.deliveries.get({ app: mine.app, id: waiting })
    expect([answer, history]).toEqual([null, []])
    expect(Object.keys(headers).sort()).toEqual([
      'accept',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'webhook-id',
    ])
  })
})

describe.each(['get', 'retry', 'resend'] as const)('developer.deliveries.%s', (name) => {
  it('returns 404 for an unknown delivery, and for one of another app', async () => {
    const { api, app, team } = mine
    const theirs = [await mintTeam(world), { app: await mintApp(world, { teamId: team }) }]
    for (const other of theirs) {
      const failed = await mintDelivery(world.db, await mintReceiver(world.db, other.app), { state: 'failed' })
      const before = await readRow(failed)
      expect(await readRefusal(api.deliveries[name]({ app, id: failed }))).toMatchObject(UNKNOWN)
      expect(await readRow(failed)).toEqual(before)
    }
    for (const unknown of ['', 'a\0b', 'x'.repeat(256), id('delivery')]) {
      expect(await readRefusal(api.deliveries[name]({ app, id: unknown }))).toMatchObject(UNKNOWN)
    }
  })
})

describe('developer.deliveries.retry', () => {
  it('makes a failed delivery due now, with all its attempts', async () => {
    const { app, api } = mine
    const failed = await mintDelivery(world.db, receiver, { state: 'failed', ...gone })
    const item = await reportingDue(world.core, () => api.deliveries.retry({ app, id: failed }))
    expect(item).toMatchObject({ id: failed, state: 'pending', attempts: 0, lastStatus: 500, finishedAt: null })
    expect((await readRow(failed)).nextAttemptAt).toEqual(new Date(0))
  })

  it('returns 409 for one that has arrived, and in an ended subscription', async () => {
    const { app, api } = mine
    const delivered = await mintDelivery(world.db, receiver, { state: 'delivered' })
    const failed = await mintDelivery(world.db, receiver, { state: 'failed' })
    await world.db.subscription.update({ where: { id: receiver.subscription }, data: { endedAt: new Date() } })
    for (const [id, reason] of [
      [delivered, 'already_delivered'],
      [failed, 'subscription_ended'],
    ] as const) {
      const before = await readRow(id)
      expect(await readRefusal(api.deliveries.retry({ app, id }))).toMatchObject({ status: 409, reason })
      expect(await readRow(id)).toEqual(before)
    }
  })
})

describe('developer.deliveries.resend', () => {
  it('makes a delivery that has arrived due now, as one with all its attempts', async () => {
    const { app, api } = mine
    const delivered = await mintDelivery(world.db, receiver, { state: 'delivered', attempts: 2 })
    const item = await reportingDue(world.core, () => api.deliveries.resend({ app, id: delivered }))
    expect(item).toMatchObject({ id: delivered, state: 'pending', attempts: 0, finishedAt: null })
    expect((await readRow(delivered)).nextAttemptAt).toEqual(new Date(0))
  })

  it('returns 409 in an ended subscription, and changes nothing', async () => {
    const { app, api } = mine
    const ended = await mintReceiver(world.db, app)
    const id = await mintDelivery(world.db, ended, { state: 'delivered' })
    await world.db.subscription.update({ where: { id: ended.subscription }, data: { endedAt: new Date() } })
    const before = await readRow(id)
    expect(await readRefusal(api.deliveries.resend({ app, id }))).toMatchObject({
      status: 409,
      reason: 'subscription_ended',
    })
    expect(await readRow(id)).toEqual(before)
  })
})

describe('developer.deliveries.retryFailed', () => {
  it('makes what failed since then due now, and nothing else', async () => {
    const { app, api, team } = mine
    const ended = await mintReceiver(world.db, app)
    await world.db.subscription.update({ where: { id: ended.subscription }, data: { endedAt: new Date() } })
    const others = await mintReceiver(world.db, await mintApp(world, { teamId: team }))
    const failed = { state: 'failed' as const, createdAt: minutesAgo(5), ...gone }
    const wanted = [await mintDelivery(world.db, receiver, failed), await mintDelivery(world.db, receiver, failed)]
    const left = [
      await mintDelivery(world.db, receiver, { ...failed, createdAt: minutesAgo(20) }),
      await mintDelivery(world.db, receiver, { state: 'delivered', createdAt: minutesAgo(5) }),
      await mintDelivery(world.db, receiver, { createdAt: minutesAgo(5), attempts: 3 }),
      await mintDelivery(world.db, ended, failed),
      await mintDelivery(world.db, others, failed),
    ]
    const before = await Promise.all(left.map(readRow))
    const since = toUnix(minutesAgo(10))
    const retry = () => api.deliveries.retryFailed({ app, since })
    expect(await reportingDue(world.core, retry)).toEqual({ retried: 2, more: false })
    const rows = await Promise.all(wanted.map(readRow))
    for (const row of rows) {
      expect(row).toMatchObject({ state: 'pending', attempts: 0, lastStatus: 500, finishedAt: null })
      expect(row.nextAttemptAt!.getTime()).toBeLessThanOrEqual(world.core.now())
    }
    // One of them at once, whatever the backoff of its subscription.
    expect(rows.filter((row) => row.nextAttemptAt!.getTime() === 0)).toHaveLength(1)
    expect(await Promise.all(left.map(readRow))).toEqual(before)
    expect(await api.deliveries.retryFailed({ app, since })).toEqual({ retried: 0, more: false })
  })

  it('takes those of a type or a subscription only', async () => {
    const { app, api } = mine
    const other = await mintReceiver(world.db, app, 'e2', 'joined')
    const [here, there] = [receiver, { ...receiver, subscription: other.subscription }]
    const failed = { state: 'failed' as const, ...gone }
    const ids = {
      t: await mintDelivery(world.db, here, failed),
      elsewhere: await mintDelivery(world.db, there, failed),
      joined: await mintDelivery(world.db, other, failed),
    }
    const pending = async () => {
      const states = await Promise.all(Object.values(ids).map(readRow))
      return Object.keys(ids).filter((_, n) => states[n]!.state === 'pending')
    }
    const retry = (filter: { type?: string; subscription?: string }) =>
      api.deliveries.retryFailed({ app, since: 0, ...filter })
    const { subscription } = other
    expect(await retry({ type: 'never' })).toEqual({ retried: 0, more: false })
    expect(await retry({ type: 't', subscription })).toEqual({ retried: 1, more: false })
    expect(await pending()).toEqual(['elsewhere'])
    expect(await retry({ subscription })).toEqual({ retried: 1, more: false })
    expect(await pending()).toEqual(['elsewhere', 'joined'])
    expect(await retry({ type: 't' })).toEqual({ retried: 1, more: false })
    expect(await pending()).toEqual(['t', 'elsewhere', 'joined'])
  })

  it('takes 5,000 at a time, the oldest first', async () => {
    const { app, api } = mine
    await world.db.$executeRaw`
      INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", state, "createdAt", "finishedAt")
      SELECT ${app} || n, ${app}, ${receiver.event}, ${receiver.subscription}, 'failed', now() - n * interval '1 s', now()
      FROM generate_series(1, 5001) n`
    expect(await api.deliveries.retryFailed({ app, since: 0 })).toEqual({ retried: 5_000, more: true })
    expect((await readRow(`${app}1`)).state).toBe('failed')
    expect(await api.deliveries.retryFailed({ app, since: 0 })).toEqual({ retried: 1, more: false })
  })

  it.each([-1, 1.5, Number.NaN, 253_402_300_800])('returns 400 for since = %s', async (since) => {
    const refused = { status: 400, message: 'since must be Unix seconds.' }
    expect(await readRefusal(mine.api.deliveries.retryFailed({ app: mine.app, since }))).toMatchObject(refused)
  })
})
