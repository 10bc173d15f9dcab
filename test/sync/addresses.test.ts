import { Webhook } from 'standardwebhooks'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { associatedData } from '../../routers/kernel/cipher.ts'
import { publishMemberEvents } from '../../routers/webhooks/member-events/publish.ts'
import { createAttempt } from '../../server/webhooks/attempt.ts'
import { removeEndedSubscriptions } from '../../server/webhooks/purge.ts'
import { claim } from '../../server/webhooks/queue.ts'
import { recordAttempts } from '../../server/webhooks/results.ts'
import { createSender } from '../../server/webhooks/send/send.ts'
import { ownTenant } from '../support/own-tenant.ts'
import { asPlatform } from '../support/platform.ts'
import { expectRefusal } from '../support/refusal.ts'
import type { Call } from '../support/request.ts'
import { started } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'
import { receiver } from '../webhooks/worker-world.ts'

const world = started(async () => startWorld(await ownTenant(afterAll)))
const url = 'https://hooks.example.org/left'
const UNKNOWN = 'This app has no such address.'
const WRONG_TYPES = "types must be null, or 1 to 50 event types of letters, digits, '.', '_' or '-'."

let team: string
let app: string
let client: string
/** The claims of a sandbox client's token. */
let sandbox: { client_id: string; organisation: string }
beforeEach(async () => {
  const { provider: providerId, member: personId } = world.ids
  const [test, testClient] = [id('provider'), id('client')]
  ;[team, app, client] = [id('team'), id('app'), id('client')]
  await world.db.team.create({ data: { id: team, name: 'Team', level: 'developer' } })
  const provider = { id: test, kind: 'provider' as const, name: 'Test', testTeamId: team }
  await world.db.organisation.create({ data: { ...provider, memberships: { create: { personId } } } })
  const named = { name: 'C', teamId: team }
  const clients = [
    { id: client, ...named, environment: 'production' as const },
    { id: testClient, ...named, environment: 'sandbox' as const },
  ]
  await world.db.app.create({ data: { id: app, name: 'App', teamId: team, providerId, clients: { create: clients } } })
  sandbox = { client_id: testClient, organisation: test }
})

const call = (method: string, path = '', { claims, ...more }: Call = {}) =>
  world.call(method, `/addresses${path}`, { claims: { client_id: client, ...claims }, ...more })
async function create(more: object = {}, claims: Record<string, unknown> = {}) {
  const { status, body } = await call('POST', '', { body: { url, types: null, ...more }, claims })
  expect(status).toBe(201)
  return body as { id: string; secret: string }
}
const list = async (claims: Record<string, unknown> = {}) => (await call('GET', '', { claims })).body.items
const rows = () =>
  world.db.subscription.findMany({ where: { appId: app }, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] })
const row = (address: string) => world.db.subscription.findUniqueOrThrow({ where: { id: address } })
const publish = (type: string) => asPlatform(world).events.publish({ app, type, data: {} })
const publishTest = async (type: 'left' | 'profile', of = sandbox) => {
  const change = {
    clientId: of.client_id,
    personId: id('gone'),
    organisationId: of.organisation,
    at: new Date(0),
  }
  await world.db.memberChange.create({ data: { ...change, kind: type } })
  while ((await publishMemberEvents(world.db, world.core.now())) > 0) {}
}
const receivers = async () => {
  const found = await world.db.delivery.findMany({ where: { appId: app }, include: { event: true } })
  return found.map(({ event, subscriptionId }) => `${event.type} ${subscriptionId}`).sort()
}
/** Makes what is due at an address, as a worker does. */
async function attempt(address: string, ca: string) {
  const sender = createSender({ allow: ['127.0.0.1'], now: world.core.now, ca })
  const { db, core } = world
  const claimed = await claim(db, {
    now: core.now(),
    lease: id('lease'),
    leaseMs: 60_000,
    allocation: new Map([[address, 9]]),
  })
  const log = { info() {}, warn() {} } as never
  const make = createAttempt({ sender, cipher: core.cipher, now: core.now, log })
  await recordAttempts(db, core.now(), await Promise.all(claimed.map((one) => make(one))))
  sender.close()
}

describe('addresses of an app', () => {
  it('are created with a secret that is returned once and stored encrypted', async () => {
    const { secret, ...created } = await create({ types: ['member.left', 'a.b', 'member.left'] })
    const types = ['member.left', 'a.b']
    expect(created).toEqual({
      id: created.id,
      environment: 'production',
      url,
      types,
      state: 'active',
      lastDelivery: null,
    })
    expect(await list()).toEqual([created])
    const stored = await row(created.id)
    expect(world.core.cipher.decrypt(stored.secret!, associatedData.subscription(created.id))).toBe(secret)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect((await create({ secret: 'given' })).secret).toBe('given')
  })

  it('get the events of their types beside subscriptions, and those of the sandbox the events of the test club', async () => {
    const [all, some, tests] = [await create(), await create({ types: ['a.b'] }), await create({}, sandbox)]
    const testSome = await create({ types: ['consent.withdrawn'] }, sandbox)
    const { id: subscription } = await asPlatform(world).subscriptions.create({ app, subscriber: 's' })
    await world.db.subscription.update({ where: { id: subscription }, data: { url } })
    expect((await publish('a.b')).deliveries).toBe(3)
    await publish('c.d')
    const real = [all.id, some.id, subscription].map((one) => `a.b ${one}`)
    const expected = [...real, `c.d ${all.id}`, `c.d ${subscription}`].sort()
    expect(await receivers()).toEqual(expected)
    await publishTest('left')
    const test = [tests.id, subscription].map((one) => `member.left ${one}`)
    expect(await receivers()).toEqual([...expected, ...test].sort())
    expect(await list(sandbox)).toMatchObject([{ id: tests.id, environment: 'sandbox' }, { id: testSome.id }])
  })

  it('leave the events of the test club to the webhook where the platform has not subscribed', async () => {
    await create()
    const test = `test:${app}`
    await world.db.app.update({ where: { id: app }, data: { webhookUrl: url } })
    await world.db.subscription.createMany({
      data: [
        { id: test, appId: app, subscriber: 'test', url, test: true },
        { id: id('s'), appId: app, subscriber: 'without a webhook' },
        { id: id('s'), appId: app, subscriber: 'ended', url, endedAt: new Date(0) },
      ],
    })
    await publishTest('left')
    expect(await receivers()).toEqual([`member.left ${test}`])
  })

  it('of an app of the test provider are of the sandbox, and its events those of the test club', async () => {
    const other = id('app')
    const own = { client_id: id('client'), organisation: sandbox.organisation }
    const clients = { create: { id: own.client_id, name: 'C', teamId: team, environment: 'sandbox' as const } }
    const data = { id: other, name: 'Test app', teamId: team, providerId: sandbox.organisation, clients }
    await world.db.app.create({ data })
    const { id: address } = await create({}, own)
    expect(await list(own)).toMatchObject([{ id: address, environment: 'sandbox' }])
    const at = { publishedAt: new Date(world.core.now()), appId: other, body: '{}' }
    await world.db.publishedEvent.createMany({
      data: [
        { ...at, id: 'real', type: 'a.b' },
        { ...at, id: 'test', type: 'a.b', isTest: true },
      ],
    })
    const { body } = await world.call('GET', '/events', { claims: own })
    expect(body.items.map((item: { id: string }) => item.id)).toEqual(['test'])
    await publishTest('left', own)
    const found = await world.db.delivery.findMany({ where: { appId: other }, include: { event: true } })
    expect(found).toMatchObject([{ subscriptionId: address, event: { type: 'member.left' } }])
  })

  it('are no subscriptions of the platform, which neither sees nor changes nor removes them', async () => {
    const { id: address } = await create()
    const before = await rows()
    const { subscriptions } = asPlatform(world)
    expect(await subscriptions.list({ app })).toEqual({ items: [], total: 0 })
    await expect(subscriptions.update({ id: address })).rejects.toMatchObject({ status: 404 })
    await expect(subscriptions.remove({ id: address })).rejects.toMatchObject({ status: 404 })
    await world.call('PUT', `/apps/${app}/webhook`, {
      body: { url: 'https://new.example' },
      claims: { client_id: client },
    })
    expect(await rows()).toEqual(before)
  })

  it('are at most 10 of 20 that are created at once, and as many of the sandbox', async () => {
    await asPlatform(world).subscriptions.create({ app, subscriber: 's' })
    const body = { url, types: null }
    const sent = await Promise.all(Array.from({ length: 20 }, () => call('POST', '', { body })))
    expect(sent.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), ...Array(10).fill(409)])
    const refused = sent.find(({ status }) => status === 409)!
    const message = 'An app can have at most 10 addresses, and its sandbox as many.'
    expectRefusal(refused, 409, 'conflict', message, 'too_many_addresses')
    expect(await rows()).toHaveLength(1 + 10)
    await create({}, sandbox)
    expect(await rows()).toHaveLength(1 + 11)
  })

  it('are delivered with a signature that the library of Standard Webhooks verifies, of both secrets for 24 hours', async () => {
    const to = await receiver()
    const { id: address, secret } = await create({ url: to.url('/in') })
    await publish('a.b')
    await attempt(address, to.ca)
    const next = `whsec_${Buffer.from('another secret of 32 characters.').toString('base64')}`
    const put = (secret?: string) =>
      call('PUT', `/${address}`, {
        body: { url: to.url('/in'), types: null, state: 'active', ...(secret && { secret }) },
      })
    expect((await put(next)).body).not.toHaveProperty('secret')
    expect((await put()).status).toBe(200)
    await publish('c.d')
    await attempt(address, to.ca)
    const verify = (at: number, by: string) =>
      new Webhook(by).verify(to.received[at]!.body, to.received[at]!.headers as Record<string, string>)
    expect([verify(0, secret), verify(1, secret), verify(1, next)]).toMatchObject([
      { type: 'a.b' },
      { type: 'c.d' },
      {},
    ])
    expect(() => verify(0, next)).toThrow()
    world.advance(24 * 3_600)
    await publish('e.f')
    await attempt(address, to.ca)
    expect(to.received[2]!.headers['x-webhook-secret']).toBe(next)
    expect(to.received[2]!.headers['webhook-signature']!.toString().split(' ')).toHaveLength(2)
    const [{ lastDelivery }] = await list()
    expect(lastDelivery).toMatchObject({ status: 204, error: null })
  })

  it('are ended by 410, kept, and resumed by their app; a paused one gets nothing', async () => {
    const to = await receiver((_, response) => void response.writeHead(410).end())
    const { id: address } = await create({ url: to.url('/in') })
    const put = (state: string) => call('PUT', `/${address}`, { body: { url: to.url('/in'), types: null, state } })
    await publish('a.b')
    await attempt(address, to.ca)
    expect(await list()).toMatchObject([{ state: 'ended', lastDelivery: { status: 410, error: 'status 410' } }])
    expect((await publish('a.b')).deliveries).toBe(0)
    const later = world.core.now() + 400 * 86_400_000
    await world.db.publishedEvent.deleteMany({ where: { appId: app } })
    await removeEndedSubscriptions(world.db, later, { keepDays: 11 })
    expect((await put('active')).body).toMatchObject({ id: address, state: 'active' })
    expect((await publish('a.b')).deliveries).toBe(1)
    expect((await put('paused')).body.state).toBe('paused')
    expect(await row(address)).toMatchObject({ paused: true, endedAt: expect.any(Date), alarm: 'ended' })
    expect((await publish('a.b')).deliveries).toBe(0)
    expect((await put('active')).body.state).toBe('active')
    expect(await row(address)).toMatchObject({ paused: false, endedAt: null, alarm: null })
  })

  it('fail while a delivery is retried, which no change of theirs alters', async () => {
    const to = await receiver((_, response) => void response.writeHead(500).end())
    const { id: address } = await create({ url: to.url('/in') })
    await publish('a.b')
    await attempt(address, to.ca)
    expect(await list()).toMatchObject([{ state: 'failing', lastDelivery: { status: 500, error: 'status 500' } }])
    await world.db.subscription.update({ where: { id: address }, data: { alarm: 'failing' } })
    const put = (state: string) => call('PUT', `/${address}`, { body: { url: to.url('/in'), types: null, state } })
    expect((await put('active')).body.state).toBe('failing')
    expect((await row(address)).alarm).toBe('failing')
    await put('paused')
    const audit = { where: { teamId: team, action: 'address.update' } } as const
    expect(await world.db.auditEntry.findMany(audit)).toMatchObject([
      { before: { state: 'active' }, after: { state: 'paused' } },
    ])
  })

  it('need a secret again once theirs was lost', async () => {
    const { id: address } = await create()
    await world.db.subscription.update({ where: { id: address }, data: { url: null, secret: null } })
    const before = await rows()
    const put = (more: object) => call('PUT', `/${address}`, { body: { url, types: null, state: 'active', ...more } })
    const message = 'secret must be 1 to 1024 visible ASCII characters, without spaces.'
    expectRefusal(await put({}), 400, 'invalid_request', message)
    expect(await rows()).toEqual(before)
    expect((await put({ secret: 'new' })).body).toMatchObject({ url, state: 'active' })
  })

  it.each([
    ['https://other.example.org/left', 'another host'],
    ['https://hooks.example.org:8443/left', 'another port'],
  ])('need a secret for %s, %s: the stored one would be sent there', async (moved) => {
    const { id: address, secret } = await create()
    const before = await rows()
    const put = (more: object) => call('PUT', `/${address}`, { body: { url, types: null, state: 'active', ...more } })
    const message = 'A url with another host or port needs a secret.'
    expectRefusal(await put({ url: moved }), 400, 'invalid_request', message)
    expect(await rows()).toEqual(before)
    expect((await put({ url: 'https://hooks.example.org:443/else?where' })).status).toBe(200)
    expect((await put({ url: moved, secret })).body.url).toBe(moved)
    expect((await put({ secret: 'next' })).body.url).toBe(url)
  })

  it('send to another host their new secret, and no former one', async () => {
    const [from, to] = [await receiver(), await receiver()]
    const { id: address, secret } = await create({ url: from.url('/in') })
    await publish('a.b')
    const body = { url: to.url('/in'), types: null, state: 'active', secret: 'next' }
    expect((await call('PUT', `/${address}`, { body })).status).toBe(200)
    await attempt(address, to.ca)
    expect([from.received, to.received]).toMatchObject([[], [{ headers: { 'x-webhook-secret': 'next' } }]])
    expect(JSON.stringify(to.received[0]!.headers)).not.toContain(secret)
  })

  it('are removed with what is pending', async () => {
    const { id: address } = await create()
    await publish('a.b')
    expect(await list()).toMatchObject([{ id: address, state: 'active', lastDelivery: null }])
    expect((await call('DELETE', `/${address}`)).status).toBe(204)
    expect([await rows(), await receivers()]).toEqual([[], []])
    expectRefusal(await call('DELETE', `/${address}`), 404, 'not_found', UNKNOWN)
  })

  it('are in the audit log with their client, without a secret; what changes nothing is not', async () => {
    const { id: address } = await create()
    const put = (secret: string) =>
      call('PUT', `/${address}`, { body: { url, types: ['a.b'], state: 'active', secret } })
    await put('s3cret-4711')
    await put('s3cret-4711')
    await call('DELETE', `/${address}`)
    const entries = await world.db.auditEntry.findMany({ where: { teamId: team }, orderBy: { id: 'asc' } })
    const stored = { environment: 'production', url, state: 'active' }
    expect(entries).toMatchObject([
      { action: 'address.create', target: app, clientId: client, personId: null, after: { ...stored, types: null } },
      { action: 'address.update', before: { types: null }, after: { ...stored, types: ['a.b'], secretReplaced: true } },
      { action: 'address.remove', before: { ...stored, types: ['a.b'] } },
    ])
    expect(entries.map(({ before, after }) => JSON.stringify([before, after])).join()).not.toContain('4711')
  })
})

describe('a refused change of addresses', () => {
  it.each([
    [{ types: ['a b'] }, WRONG_TYPES],
    [{ types: [] }, WRONG_TYPES],
    [{ types: undefined }, WRONG_TYPES],
    [{ types: 'a.b' }, WRONG_TYPES],
    [{ types: [1] }, WRONG_TYPES],
    [{ types: Array.from({ length: 51 }, (_, n) => `t${n}`) }, WRONG_TYPES],
    [{ url: 'http://hooks.example' }, 'url must be an https:// address of at most 2048 characters, without user info.'],
    [
      { url: 'https://u:p@hooks.example' },
      'url must be an https:// address of at most 2048 characters, without user info.',
    ],
    [{ secret: 'a b' }, 'secret must be 1 to 1024 visible ASCII characters, without spaces.'],
    [{ secret: null }, 'secret must be 1 to 1024 visible ASCII characters, without spaces.'],
    [{ state: 'ended' }, 'state is active or paused.'],
  ])('is 400 for %j, and changes nothing', async (more, message) => {
    const { id: address } = await create()
    const before = await rows()
    const body = { url, types: null, state: 'active', ...more }
    expectRefusal(await call('PUT', `/${address}`, { body }), 400, 'invalid_request', message)
    if (!('state' in more)) expectRefusal(await call('POST', '', { body }), 400, 'invalid_request', message)
    expect(await rows()).toEqual(before)
  })

  it('is 404 for the address of another app and of the other environment, and for a subscription', async () => {
    const [real, test] = [await create(), await create({}, sandbox)]
    const { id: subscription } = await asPlatform(world).subscriptions.create({ app, subscriber: 's' })
    const before = await rows()
    const other = id('client')
    const { provider: providerId } = world.ids
    const clients = { create: { id: other, name: 'C', teamId: team, environment: 'production' as const } }
    await world.db.app.create({ data: { id: id('app'), name: 'App', teamId: team, providerId, clients } })
    const body = { url: 'https://other.example', types: null, state: 'paused' }
    for (const [address, claims] of [
      [real.id, { client_id: other }],
      [real.id, sandbox],
      [test.id, {}],
      [subscription, {}],
      ['none', {}],
      ['%00', {}],
    ] as const) {
      expectRefusal(await call('PUT', `/${address}`, { body, claims }), 404, 'not_found', UNKNOWN)
      expectRefusal(await call('DELETE', `/${address}`, { claims }), 404, 'not_found', UNKNOWN)
    }
    expect(await rows()).toEqual(before)
  })

  it('is 409 while the app is suspended', async () => {
    await create()
    await world.db.app.update({ where: { id: app }, data: { state: 'suspended' } })
    const before = await rows()
    const reply = await call('POST', '', { body: { url, types: null } })
    expectRefusal(reply, 409, 'conflict', 'This app is suspended.', 'app_suspended')
    expect(await rows()).toEqual(before)
  })
})
