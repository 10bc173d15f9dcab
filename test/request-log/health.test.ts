import { beforeAll, expect, it } from 'vitest'
import { readRefusal } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { createDeveloper } from './developers.ts'

const world = useWorld()
let developer: Awaited<ReturnType<typeof createDeveloper>>
beforeAll(async () => {
  developer = await createDeveloper(world)
})

const health = () => developer.apps.health({ app: world.ids.app })

it('the health of an app that nobody uses is empty', async () => {
  expect(await health()).toEqual({
    steps: { client: null, hasClient: true, hasCalled: true, hasProduction: true },
    requests: { ok: 0, refused: 0, limited: 0 },
    lastError: null,
    webhook: { url: null, failed: 0, deliveries: 0, last: null },
    storage: { stores: 0, bytes: 0, fullest: 0, limit: world.core.storageQuotaBytes },
  })
})

it('the health of an app has its requests, last error, deliveries and stores, not those of other apps', async () => {
  const { db, ids } = world
  const [app, client] = [id('app'), id('client')]
  await db.app.create({ data: { id: app, name: 'Other', teamId: ids.team, providerId: ids.provider } })
  await db.client.create({ data: { id: client, name: 'O', teamId: ids.team, appId: app, environment: 'sandbox' } })
  const put = (headers = {}) => world.call('PUT', '/storage/c/k', { body: { value: 'four' }, headers })
  expect((await put()).status).toBe(200)
  expect((await put({ 'if-none-match': '*' })).status).toBe(412)
  expect((await world.call('GET', '/storage/c/none', { headers: { 'x-request-id': 'lost' } })).status).toBe(404)
  expect((await put({ 'if-none-match': '*' })).status).toBe(412)
  await world.call('GET', '/storage/c/none', { claims: { client_id: client }, headers: { 'x-request-id': 'other' } })
  await world.requestLog.flush()
  await db.app.update({ where: { id: ids.app }, data: { webhookUrl: 'https://hooks.example/' } })
  const [subscription, event, publishedAt] = [id('subscription'), id('event'), new Date()]
  const webhook = { appId: ids.app, subscriber: 's', url: 'https://h.example/' }
  await db.subscription.create({ data: { id: subscription, ...webhook } })
  await db.publishedEvent.create({ data: { appId: ids.app, id: event, type: 't', body: '{}', publishedAt } })
  const of = { appId: ids.app, eventId: event, subscriptionId: subscription, finishedAt: publishedAt }
  const deliveries = (['delivered', 'failed'] as const).map((state, at) => ({
    id: id('delivery'),
    ...of,
    state,
    createdAt: new Date(Date.UTC(2026, 0, 1 + at)),
  }))
  await db.delivery.createMany({ data: deliveries })
  const found = await health()
  expect(found.requests).toEqual({ ok: 3, refused: 1, limited: 0 })
  expect(found.lastError).toMatchObject({ status: 404, error: 'keyUnknown', requestId: 'lost' })
  expect(found.webhook).toEqual({
    url: 'https://hooks.example/',
    failed: 1,
    deliveries: 2,
    last: { state: 'failed', createdAt: deliveries[1]!.createdAt.getTime() / 1_000 },
  })
  expect(found.storage).toMatchObject({ stores: 1, bytes: 6, fullest: 6 })
  expect((await developer.apps.health({ app })).lastError).toMatchObject({ requestId: 'other' })
})

it('an app of another team has no health to show: 404', async () => {
  const { db, ids } = world
  const [team, app] = [id('team'), id('app')]
  await db.team.create({ data: { id: team, name: 'Strangers', level: 'hobby' } })
  await db.app.create({ data: { id: app, name: 'Theirs', teamId: team, providerId: ids.provider } })
  expect((await readRefusal(developer.apps.health({ app }))).status).toBe(404)
})
