import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { asPlatform, readRefusal } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { mintTeam } from './team.ts'

const world = useWorld()
const url = 'https://hooks.example.org/in'
const SECRET_NEEDED = 'A url with another host or port needs a secret.'
const production = { environment: 'production', url, types: null } as const
let mine: Awaited<ReturnType<typeof mintTeam>>
beforeEach(async () => {
  mine = await mintTeam(world)
})

const create = (more: object = {}) => mine.api.addresses.create({ app: mine.app, ...production, ...more })
const rows = () => world.db.subscription.findMany({ where: { appId: mine.app } })

describe('developer.addresses', () => {
  it('adds, changes and removes addresses of both environments, each change once in the audit log of its person', async () => {
    const { app, team, person, api } = mine
    const { secret, ...real } = await create({ types: ['a.b'] })
    const { secret: given, ...test } = await create({ environment: 'sandbox', secret: 'given' })
    expect([secret.length > 40, given]).toEqual([true, 'given'])
    const etag = expect.any(String)
    expect((await api.addresses.list({ app })).items).toEqual([real, test].map((one) => ({ ...one, etag })))
    const changed = await api.addresses.update({ app, id: real.id, state: 'paused' })
    expect(changed).toEqual({ ...real, state: 'paused' })
    expect(await api.addresses.update({ app, id: real.id, types: null, state: 'paused' })).toEqual({
      ...changed,
      types: null,
    })
    await api.addresses.update({ app, id: real.id, state: 'paused' })
    expect(await api.addresses.remove({ app, id: test.id })).toEqual({ id: test.id })
    const audit = await world.db.auditEntry.findMany({ where: { teamId: team }, orderBy: { id: 'asc' } })
    expect(audit.map(({ action, personId }) => [action, personId])).toEqual(
      ['create', 'create', 'update', 'update', 'remove'].map((action) => [`address.${action}`, person]),
    )
  })

  it('changes an address with the etag that was read, until its address, secret or event types are others', async () => {
    const { app, api } = mine
    const { id } = await create()
    const read = async () => (await api.addresses.list({ app })).items[0]!.etag
    const etags = [await read()]
    await api.addresses.update({ app, id, etag: etags[0], state: 'paused' })
    expect(await read()).toBe(etags[0])
    for (const change of [{ url: 'https://hooks.example.org/other' }, { secret: 'next' }, { types: ['a.b'] }]) {
      await api.addresses.update({ app, id, etag: etags.at(-1), ...change })
      etags.push(await read())
    }
    const before = await rows()
    for (const etag of etags.slice(0, -1)) {
      const refusal = await readRefusal(api.addresses.update({ app, id, etag, url }))
      expect(refusal).toMatchObject({ status: 409, reason: 'changed_meanwhile' })
    }
    expect(await rows()).toEqual(before)
  })

  it('needs a secret for an address with another host, whatever else changes with it', async () => {
    const { app, api } = mine
    const { id } = await create()
    const before = await rows()
    const other = 'https://other.example.org/in'
    for (const more of [{}, { types: ['a.b'] }, { state: 'paused' as const }]) {
      const refusal = await readRefusal(api.addresses.update({ app, id, url: other, ...more }))
      expect(refusal).toMatchObject({ status: 400, message: SECRET_NEEDED })
    }
    expect(await rows()).toEqual(before)
    expect((await api.addresses.update({ app, id, url: other, secret: 'next' })).url).toBe(other)
  })

  it('counts what each event type would have sent in the last 7 days, at most 1,000', async () => {
    const { app, api } = mine
    const at = (days: number) => new Date(world.core.now() - days * 86_400_000)
    const rows = [
      ...[1, 6, 8].map((days) => ({ id: `real-${days}`, type: 'a.b', publishedAt: at(days) })),
      ...[1, 8].map((days) => ({ id: `test-${days}`, type: 'a.b', publishedAt: at(days), isTest: true })),
      ...Array.from({ length: 1_001 }, (_, n) => ({ id: `many-${n}`, type: 'm', publishedAt: at(1) })),
      { id: 'test', type: 'webhook.test', publishedAt: at(1), isTest: true },
    ]
    const { app: appId } = await mintTeam(world)
    const ofOther = { appId, id: 'other', type: 'a.b', publishedAt: at(1) }
    const data = [...rows, ofOther].map((row) => ({ appId: app, body: '{}', ...row }))
    await world.db.publishedEvent.createMany({ data })
    const { types } = await api.addresses.list({ app })
    expect(types).toEqual(
      expect.arrayContaining([
        { type: 'a.b', production: 2, sandbox: 1 },
        { type: 'm', production: 1_000, sandbox: 0 },
        { type: 'member.left', production: 0, sandbox: 0 },
      ]),
    )
    expect(types.map(({ type }) => type)).not.toContain('webhook.test')
  })

  it('sends a test event to one address alone, whatever types it gets, and counts ten a minute for it', async () => {
    const { app, api } = mine
    const [to] = [await create({ types: ['a.b'] }), await create(), await create({ environment: 'sandbox' })]
    const { delivery } = await api.webhook.test({ app, address: to.id })
    const sent = await world.db.delivery.findMany({ where: { appId: app }, include: { event: true } })
    expect(sent).toMatchObject([{ id: delivery, subscriptionId: to.id, event: { type: 'webhook.test', isTest: true } }])
    for (let n = 1; n < 10; n++) await api.webhook.test({ app, address: to.id })
    expect((await readRefusal(api.webhook.test({ app, address: to.id }))).status).toBe(429)
    expect(await world.db.publishedEvent.count({ where: { appId: app } })).toBe(10)
    const other = await mintTeam(world)
    expect((await readRefusal(other.api.webhook.test({ app: other.app, address: to.id }))).status).toBe(404)
    const { id: subscription } = await asPlatform(world).subscriptions.create({ app, subscriber: 's' })
    expect((await readRefusal(api.webhook.test({ app, address: subscription }))).status).toBe(404)
    world.advance(60)
    await api.addresses.update({ app, id: to.id, state: 'paused' })
    expect((await readRefusal(api.webhook.test({ app, address: to.id }))).status).toBe(409)
    expect(await world.db.publishedEvent.count({ where: { appId: app } })).toBe(10)
  })

  it('counts test events alone: ten real ones, or ten of the test club, leave as many as before', async () => {
    const { app, api } = mine
    const [real, sandbox] = [await create(), await create({ environment: 'sandbox' })]
    const { events } = asPlatform(world)
    // The platform names its events as it likes.
    for (let n = 0; n < 10; n++) await events.publish({ app, type: 'a.b', data: {}, id: `test-${n}` })
    const at = new Date(world.core.now())
    const ofClub = Array.from({ length: 10 }, () => ({ appId: app, id: randomUUID(), publishedAt: at, isTest: true }))
    await world.db.publishedEvent.createMany({ data: ofClub.map((one) => ({ ...one, type: 'a.b', body: '{}' })) })
    const of = { appId: app, subscriptionId: sandbox.id, createdAt: at, nextAttemptAt: at }
    await world.db.delivery.createMany({ data: ofClub.map(({ id }) => ({ ...of, id: randomUUID(), eventId: id })) })
    for (const { id: address } of [real, sandbox]) {
      expect(await world.db.delivery.count({ where: { subscriptionId: address } })).toBe(10)
      for (let n = 0; n < 10; n++) await api.webhook.test({ app, address })
      expect((await readRefusal(api.webhook.test({ app, address }))).status).toBe(429)
      expect(await world.db.delivery.count({ where: { subscriptionId: address } })).toBe(20)
    }
  })

  it('leaves what the webhook shows of its secret, and its removal, as they were', async () => {
    const { app, api } = mine
    await api.webhook.set({ app, url, secret: 'first' })
    const { id } = await create()
    await asPlatform(world).events.publish({ app, type: 'a.b', data: {} })
    await world.db.delivery.updateMany({
      where: { subscriptionId: id },
      data: { lastAttemptAt: new Date(world.core.now()) },
    })
    expect((await api.webhook.get({ app })).secretUsedAt).toBeNull()
    const before = await rows()
    await api.webhook.remove({ app })
    expect(await rows()).toEqual(before)
  })

  it.each([
    ['a stranger', 404, async () => (await mintTeam(world)).api],
    [
      'a team of level hobby',
      403,
      async () => {
        await world.db.team.update({ where: { id: mine.team }, data: { level: 'hobby' } })
        return mine.api
      },
    ],
    [
      'a suspended app',
      409,
      async () => {
        await world.db.app.update({ where: { id: mine.app }, data: { state: 'suspended' } })
        return mine.api
      },
    ],
  ])('refuses changes of %s with %i, and changes nothing', async (_, status, toApi) => {
    const { app } = mine
    const { id } = await create()
    const before = await rows()
    const api = await toApi()
    for (const change of [
      () => api.addresses.create({ app, ...production }),
      () => api.addresses.update({ app, id, state: 'paused' }),
      () => api.addresses.remove({ app, id }),
      () => api.webhook.test({ app, address: id }),
      ...(status === 409 ? [] : [() => api.addresses.list({ app })]),
    ]) {
      expect((await readRefusal(change())).status).toBe(status)
    }
    expect(await rows()).toEqual(before)
  })
})
