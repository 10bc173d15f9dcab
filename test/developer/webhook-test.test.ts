import { beforeEach, describe, expect, it } from 'vitest'
import { associatedData } from '../../routers/kernel/cipher.ts'
import { asPlatform, mintApp, readRefusal } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import { useWorld } from '../support/started.ts'
import { mintTeam } from './team.ts'

const url = 'https://hooks.example.org/in'

const world = useWorld()
let mine: Awaited<ReturnType<typeof mintTeam>>
beforeEach(async () => {
  mine = await mintTeam(world)
  await mine.api.webhook.set({ app: mine.app, url, secret: 'first' })
})

const subscriptions = (appId: string) => world.db.subscription.findMany({ where: { appId } })
const tests = (appId: string) => world.db.publishedEvent.count({ where: { appId } })

describe('developer.webhook.test', () => {
  it('publishes webhook.test to the webhook of the app', async () => {
    const { app, api } = mine
    const { delivery } = await reportingDue(world.core, () => api.webhook.test({ app }))
    const row = await world.db.delivery.findUniqueOrThrow({
      where: { id: delivery },
      include: { event: true, subscription: true },
    })
    expect(row).toMatchObject({ appId: app, state: 'pending', attempts: 0, event: { type: 'webhook.test' } })
    // Also while its subscription backs off after failed ones.
    expect(row.nextAttemptAt).toEqual(new Date(0))
    expect(JSON.parse(row.event.body)).toEqual({
      id: row.eventId,
      type: 'webhook.test',
      timestamp: row.createdAt.toISOString(),
      data: { message: 'This is a test event.' },
    })
    expect(row.subscription).toMatchObject({ appId: app, test: true, url, endedAt: null })
    const { id, secret } = row.subscription
    expect(world.core.cipher.decrypt(secret!, associatedData.subscription(id))).toBe('first')
  })

  it('tells the worker of this process', async () => {
    const events: unknown[] = []
    const { published } = world.core
    world.core.published = (event) => void events.push(event)
    const { delivery } = await mine.api.webhook.test({ app: mine.app })
    world.core.published = published
    expect(events).toEqual([{ app: mine.app, event: expect.any(String), deliveries: [delivery] }])
  })

  it('follows the webhook, with one subscription for all tests', async () => {
    const { app, api } = mine
    await api.webhook.test({ app })
    await world.db.subscription.updateMany({ where: { appId: app }, data: { endedAt: new Date() } })
    await api.webhook.set({ app, url: 'https://new.example.org', secret: null })
    await api.webhook.test({ app })
    const all = await subscriptions(app)
    expect(all).toMatchObject([{ url: 'https://new.example.org', secret: null, endedAt: null }])
  })

  it('reaches no subscriber, and subscribers get nothing of it', async () => {
    const { app, api } = mine
    const platform = asPlatform(world)
    const subscriber = await platform.subscriptions.create({ app, subscriber: 'riverside' })
    const { delivery } = await api.webhook.test({ app })
    const { deliveries } = await platform.events.publish({ app, type: 'member.joined', data: {} })
    expect(deliveries).toBe(1)
    const rows = await world.db.delivery.findMany({ where: { appId: app } })
    const byType = rows.map(({ id, subscriptionId }) => [id === delivery, subscriptionId === subscriber.id])
    expect(byType).toHaveLength(2)
    expect(byType).toEqual(
      expect.arrayContaining([
        [true, false],
        [false, true],
      ]),
    )
    const listed = await platform.subscriptions.list({ app })
    expect([listed.items.map(({ id }) => id), listed.total]).toEqual([[subscriber.id], 1])
  })

  it('keeps its subscription from the platform', async () => {
    const { app, api } = mine
    await api.webhook.test({ app })
    const [test] = await subscriptions(app)
    const removal = asPlatform(world).subscriptions.remove({ id: test!.id })
    expect(await readRefusal(removal)).toMatchObject({ status: 404 })
    expect(await subscriptions(app)).toHaveLength(1)
  })

  it('is let through ten times a minute for an app, also at once', async () => {
    const { app, api, team } = mine
    const sent = await Promise.allSettled(Array.from({ length: 13 }, () => api.webhook.test({ app })))
    const refused = sent.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(refused).toHaveLength(3)
    for (const error of refused) {
      expect([error.status, Number(error.headers['Retry-After'])]).toEqual([
        429,
        expect.toSatisfy((s) => s > 50 && s <= 60),
      ])
      expect(error.message).toMatch(/^An address gets at most 10 test events per minute; try again in \d+ s\.$/)
    }
    expect(await tests(app)).toBe(10)
    const other = await mintApp(world, { teamId: team, webhookUrl: url })
    await api.webhook.test({ app: other })
    world.advance(61)
    await api.webhook.test({ app })
    expect(await tests(app)).toBe(11)
  })
})
