import { beforeEach, describe, expect, it } from 'vitest'
import { associatedData } from '../../routers/kernel/cipher.ts'
import { asPlatform, mintApp, readRefusal } from '../support/platform.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import type { asPerson } from './team.ts'
import { mintTeam } from './team.ts'

const url = 'https://hooks.example.org/in'
const UNKNOWN = { status: 404, code: 'not_found', message: 'This app does not exist.' }
const times = { secretSetAt: null, secretUsedAt: null, formerSecretUntil: null }
const without = { url: null, hasSecret: false, ...times, etag: expect.any(String) }
const SECRET_NEEDED = 'A url with another host or port needs a secret.'
const SUSPENDED = { status: 409, reason: 'app_suspended' }

const world = useWorld()
let mine: Awaited<ReturnType<typeof mintTeam>>
beforeEach(async () => {
  mine = await mintTeam(world)
})

const stored = (app: string) => world.db.app.findUniqueOrThrow({ where: { id: app } })
const audit = (teamId: string) => world.db.auditEntry.findMany({ where: { teamId }, orderBy: { id: 'asc' } })

describe('developer.webhook', () => {
  it('is set, read and removed, and never returns the secret', async () => {
    const { app, api } = mine
    expect(await api.webhook.get({ app })).toMatchObject({ url: null, hasSecret: false })
    expect(await api.webhook.set({ app, url, secret: 's3cret-4711' })).toEqual({ url, hasSecret: true })
    expect(await api.webhook.get({ app })).toMatchObject({ url, hasSecret: true })
    const { webhookSecret } = await stored(app)
    expect(world.core.cipher.decrypt(webhookSecret!, associatedData.template(app))).toBe('s3cret-4711')
    expect(await api.webhook.remove({ app })).toEqual({ app })
    expect(await api.webhook.get({ app })).toEqual(without)
  })

  it('is set with the etag that was read, until address or secret is another', async () => {
    const { app, api } = mine
    const { etag } = await api.webhook.get({ app })
    await api.webhook.set({ app, etag, url, secret: 'first' })
    const withSecret = (await api.webhook.get({ app })).etag
    await api.webhook.set({ app, etag: withSecret, url, secret: 'first' })
    const before = await stored(app)
    for (const stale of [etag, withSecret, '']) {
      const refusal = await readRefusal(api.webhook.set({ app, etag: stale, url: 'https://hooks.example.org/other' }))
      expect(refusal).toMatchObject({ status: 409, reason: 'changed_meanwhile' })
    }
    expect(await stored(app)).toEqual(before)
  })

  it('shows when the secret was set, which another address does not change', async () => {
    const { app, api } = mine
    expect(await api.webhook.get({ app })).toEqual(without)
    const before = Math.floor(world.core.now() / 1_000)
    await api.webhook.set({ app, url, secret: 'first' })
    const after = Math.floor(world.core.now() / 1_000)
    const first = await api.webhook.get({ app })
    expect(first).toEqual({ ...without, url, hasSecret: true, secretSetAt: expect.any(Number) })
    expect(first.secretSetAt).toBeGreaterThanOrEqual(before)
    expect(first.secretSetAt).toBeLessThanOrEqual(after)
    world.advance(60)
    await api.webhook.set({ app, url: 'https://hooks.example.org/other' })
    expect((await api.webhook.get({ app })).secretSetAt).toBe(first.secretSetAt)
    await api.webhook.set({ app, url, secret: 'first' })
    expect((await api.webhook.get({ app })).secretSetAt).toBeGreaterThanOrEqual(before + 60)
    await api.webhook.set({ app, url, secret: null })
    expect(await api.webhook.get({ app })).toEqual({ ...without, url })
    expect((await stored(app)).secretSetAt).toBeNull()
  })

  it('shows when the secret last signed an attempt, of a test or of a subscription that has copied it', async () => {
    const { app, api } = mine
    const { db, core } = world
    const usedAt = async () => (await api.webhook.get({ app })).secretUsedAt
    const start = Math.floor(core.now() / 1_000)
    const attempt = (where: { id: string } | { subscriptionId: string }, seconds: number) =>
      db.delivery.updateMany({ where, data: { lastAttemptAt: new Date((start + seconds) * 1_000) } })
    const platform = asPlatform(world)
    const publish = () => platform.events.publish({ app, type: 'member.joined', data: {} })

    await api.webhook.set({ app, url, secret: 'first' })
    const former = await platform.subscriptions.create({ app, subscriber: 'former' })
    await publish()
    expect(await usedAt()).toBeNull()
    await attempt({ subscriptionId: former.id }, 10)
    expect(await usedAt()).toBe(start + 10)

    world.advance(60)
    await api.webhook.set({ app, url, secret: 'second' })
    await publish()
    await attempt({ subscriptionId: former.id }, 70)
    expect(await usedAt()).toBeNull()
    const { delivery } = await api.webhook.test({ app })
    await attempt({ id: delivery }, 80)
    expect(await usedAt()).toBe(start + 80)
    const copied = await platform.subscriptions.create({ app, subscriber: 'copied' })
    await publish()
    expect(await usedAt()).toBe(start + 80)
    await attempt({ subscriptionId: copied.id }, 90)
    expect(await usedAt()).toBe(start + 90)

    world.advance(60)
    await platform.subscriptions.update({ id: former.id })
    await publish()
    expect(await usedAt()).toBe(start + 90)
    await attempt({ subscriptionId: former.id }, 130)
    expect(await usedAt()).toBe(start + 130)
  })

  it('shows no times of a secret that the former release stored', async () => {
    const { app, api } = mine
    await api.webhook.set({ app, url, secret: 'first' })
    await world.db.app.update({ where: { id: app }, data: { secretSetAt: null } })
    expect(await api.webhook.get({ app })).toEqual({ ...without, url, hasSecret: true })
  })

  it('keeps the secret when it is set without one, and removes it when it is set with null', async () => {
    const { app, api } = mine
    const other = 'https://hooks.example.org/other'
    await api.webhook.set({ app, url, secret: 'first' })
    expect(await api.webhook.set({ app, url: other })).toEqual({ url: other, hasSecret: true })
    const { webhookUrl, webhookSecret } = await stored(app)
    expect(webhookUrl).toBe(other)
    expect(world.core.cipher.decrypt(webhookSecret!, associatedData.template(app))).toBe('first')
    expect(await api.webhook.set({ app, url, secret: null })).toEqual({ url, hasSecret: false })
    expect((await stored(app)).webhookSecret).toBeNull()
    expect(await api.webhook.set({ app, url })).toEqual({ url, hasSecret: false })
  })

  it('needs a secret, or its removal, for an address with another host', async () => {
    const { app, api } = mine
    const other = 'https://other.example.org/in'
    await api.webhook.set({ app, url, secret: 'first' })
    const before = await stored(app)
    expect(await readRefusal(api.webhook.set({ app, url: other }))).toMatchObject({
      status: 400,
      message: SECRET_NEEDED,
    })
    expect(await stored(app)).toEqual(before)
    expect(await api.webhook.set({ app, url: other, secret: 'first' })).toEqual({ url: other, hasSecret: true })
    expect(await api.webhook.set({ app, url, secret: null })).toEqual({ url, hasSecret: false })
    expect(await api.webhook.set({ app, url: other })).toEqual({ url: other, hasSecret: false })
  })

  it('leaves each change in the audit log of the team, without the secret', async () => {
    const { app, api, team, person } = mine
    await api.webhook.set({ app, url, secret: 's3cret-4711' })
    await api.webhook.remove({ app })
    const entries = await audit(team)
    const [none, some] = [
      { url: null, hasSecret: false },
      { url, hasSecret: true },
    ]
    expect(entries).toMatchObject([
      { personId: person, action: 'webhook.set', target: app, before: none, after: some },
      { personId: person, action: 'webhook.remove', target: app, before: some, after: none },
    ])
    expect(JSON.stringify(entries.map(({ id: _, ...entry }) => entry))).not.toContain('s3cret')
  })

  it.each(['http://hooks.example.org', 'https://user@hooks.example.org', ''])('refuses the address %j', async (bad) => {
    const refused = { status: 400, message: expect.stringMatching(/^url must be an https:\/\//) }
    expect(await readRefusal(mine.api.webhook.set({ app: mine.app, url: bad }))).toMatchObject(refused)
    expect((await stored(mine.app)).webhookUrl).toBeNull()
  })
})

const calls: Record<string, (api: ReturnType<typeof asPerson>, app: string) => Promise<unknown>> = {
  'webhook.get': (api, app) => api.webhook.get({ app }),
  'webhook.set': (api, app) => api.webhook.set({ app, url: 'https://other.example.org' }),
  'webhook.remove': (api, app) => api.webhook.remove({ app }),
  'webhook.endFormerSecret': (api, app) => api.webhook.endFormerSecret({ app }),
  'webhook.test': (api, app) => api.webhook.test({ app }),
  'deliveries.list': (api, app) => api.deliveries.list({ app }),
  'deliveries.get': (api, app) => api.deliveries.get({ app, id: 'none' }),
  'deliveries.retry': (api, app) => api.deliveries.retry({ app, id: 'none' }),
  'deliveries.resend': (api, app) => api.deliveries.resend({ app, id: 'none' }),
  'deliveries.retryFailed': (api, app) => api.deliveries.retryFailed({ app, since: 0 }),
}

describe.each(Object.keys(calls))('developer.%s', (name) => {
  const call = calls[name]!

  it('returns 404 for an unknown app and for one of another team', async () => {
    const theirs = await mintTeam(world)
    const data = { webhookUrl: url, webhookSecret: 'second', formerSecret: 'first', formerUntil: new Date() }
    await world.db.app.update({ where: { id: theirs.app }, data })
    const before = await stored(theirs.app)
    for (const app of [theirs.app, id('app')]) expect(await readRefusal(call(mine.api, app))).toMatchObject(UNKNOWN)
    expect(await stored(theirs.app)).toEqual(before)
    expect(await world.db.publishedEvent.count({ where: { appId: theirs.app } })).toBe(0)
  })

  it('returns 404 for a former colleague', async () => {
    await world.db.teamMember.deleteMany({ where: { personId: mine.person } })
    expect(await readRefusal(call(mine.api, mine.app))).toMatchObject(UNKNOWN)
  })

  it('returns 403 for a team of the Hobby level, as over REST', async () => {
    const hobby = await mintTeam(world, 'hobby')
    const message = 'The Developer membership is needed for this API.'
    expect(await readRefusal(call(hobby.api, hobby.app))).toMatchObject({ status: 403, message })
    expect((await stored(hobby.app)).webhookUrl).toBeNull()
  })
})

const ofActive = ['webhook.set', 'webhook.remove', 'webhook.endFormerSecret', 'webhook.test']
describe.each([...ofActive, 'deliveries.retry', 'deliveries.resend', 'deliveries.retryFailed'])(
  'developer.%s',
  (name) => {
    it('returns 409 for a suspended app, and changes nothing', async () => {
      const { team, api } = mine
      const secrets = { webhookSecret: 'second', formerSecret: 'first', formerUntil: new Date(Date.now() + 60_000) }
      const app = await mintApp(world, { teamId: team, state: 'suspended', webhookUrl: url, ...secrets })
      const before = await stored(app)
      expect(await readRefusal(calls[name]!(api, app))).toMatchObject(SUSPENDED)
      expect(await stored(app)).toEqual(before)
      expect(await world.db.publishedEvent.count({ where: { appId: app } })).toBe(0)
      expect(await audit(team)).toEqual([])
    })
  },
)
