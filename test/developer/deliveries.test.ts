import { beforeEach, describe, expect, it } from 'vitest'
import { toUnix } from '../../routers/kernel/time.ts'
import { headersOf } from '../../server/webhooks/send/message.ts'
import type { Receiver } from '../conformance/delivery-tenant.ts'
import { later, mintDelivery, mintReceiver } from '../conformance/delivery-tenant.ts'
import { testWorld } from '../support/opened.ts'
import { mintApp, refusalOf } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { mintTeam } from './team.ts'

const UNKNOWN = { status: 404, message: 'This delivery does not exist.' }

const world = testWorld()
let mine: Awaited<ReturnType<typeof mintTeam>>
let receiver: Receiver
beforeEach(async () => {
  mine = await mintTeam(world)
  receiver = await mintReceiver(world.db, mine.app)
})

const rowOf = (id: string) => world.db.delivery.findUniqueOrThrow({ where: { id } })
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
    const { createdAt, finishedAt } = await rowOf(old)
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
    const really = headersOf(message, 'hooks.example.org:8443', lastAttemptAt.getTime())
    const hidden = { 'x-webhook-secret': null, 'webhook-signature': null }
    const texts = Object.entries(really).map(([name, value]) => [name, String(value)])
    expect(found.headers).toEqual({ ...Object.fromEntries(texts), ...hidden })
    expect(JSON.stringify(found)).not.toMatch(/471[12]/)
  })

  it('has no time of an attempt and no answer before the first', async () => {
    const waiting = await mintDelivery(world.db, receiver)
    const { answer, headers } = await mine.api.deliveries.get({ app: mine.app, id: waiting })
    expect(answer).toBeNull()
    expect(Object.keys(headers).sort()).toEqual(['content-length', 'content-type', 'host', 'user-agent', 'webhook-id'])
  })
})

describe.each(['get', 'retry'] as const)('developer.deliveries.%s', (name) => {
  it('returns 404 for an unknown delivery, and for one of another app', async () => {
    const { api, app, team } = mine
    const theirs = [await mintTeam(world), { app: await mintApp(world, { teamId: team }) }]
    for (const other of theirs) {
      const failed = await mintDelivery(world.db, await mintReceiver(world.db, other.app), { state: 'failed' })
      const before = await rowOf(failed)
      expect(await refusalOf(api.deliveries[name]({ app, id: failed }))).toMatchObject(UNKNOWN)
      expect(await rowOf(failed)).toEqual(before)
    }
    for (const unknown of ['', 'a\0b', 'x'.repeat(256), id('delivery')]) {
      expect(await refusalOf(api.deliveries[name]({ app, id: unknown }))).toMatchObject(UNKNOWN)
    }
  })
})

describe('developer.deliveries.retry', () => {
  it('makes a failed delivery due now, with all its attempts', async () => {
    const { app, api } = mine
    const failed = await mintDelivery(world.db, receiver, { state: 'failed', ...gone })
    const item = await api.deliveries.retry({ app, id: failed })
    expect(item).toMatchObject({ id: failed, state: 'pending', attempts: 0, lastStatus: 500, finishedAt: null })
    expect((await rowOf(failed)).nextAttemptAt).toEqual(new Date(0))
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
      const before = await rowOf(id)
      expect(await refusalOf(api.deliveries.retry({ app, id }))).toMatchObject({ status: 409, reason })
      expect(await rowOf(id)).toEqual(before)
    }
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
    const before = await Promise.all(left.map(rowOf))
    const since = toUnix(minutesAgo(10))
    expect(await api.deliveries.retryFailed({ app, since })).toEqual({ retried: 2, more: false })
    const rows = await Promise.all(wanted.map(rowOf))
    for (const row of rows) {
      expect(row).toMatchObject({ state: 'pending', attempts: 0, lastStatus: 500, finishedAt: null })
      expect(row.nextAttemptAt!.getTime()).toBeLessThanOrEqual(world.core.now())
    }
    // One of them at once, whatever the backoff of its subscription.
    expect(rows.filter((row) => row.nextAttemptAt!.getTime() === 0)).toHaveLength(1)
    expect(await Promise.all(left.map(rowOf))).toEqual(before)
    expect(await api.deliveries.retryFailed({ app, since })).toEqual({ retried: 0, more: false })
  })

  it('takes 5,000 at a time, the oldest first', async () => {
    const { app, api } = mine
    await world.db.$executeRaw`
      INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", state, "createdAt", "finishedAt")
      SELECT ${app} || n, ${app}, ${receiver.event}, ${receiver.subscription}, 'failed', now() - n * interval '1 s', now()
      FROM generate_series(1, 5001) n`
    expect(await api.deliveries.retryFailed({ app, since: 0 })).toEqual({ retried: 5_000, more: true })
    expect((await rowOf(`${app}1`)).state).toBe('failed')
    expect(await api.deliveries.retryFailed({ app, since: 0 })).toEqual({ retried: 1, more: false })
  })

  it.each([-1, 1.5, Number.NaN, 253_402_300_800])('returns 400 for since = %s', async (since) => {
    const refused = { status: 400, message: 'since must be Unix seconds.' }
    expect(await refusalOf(mine.api.deliveries.retryFailed({ app: mine.app, since }))).toMatchObject(refused)
  })
})
