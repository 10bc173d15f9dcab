import { describe, expect, it, onTestFinished } from 'vitest'
import type { Transaction } from '../../prisma/client.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { expectRefusal } from '../support/refusal.ts'
import type { Call } from '../support/request.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = useWorld()

const URL_WRONG = 'url must be an https:// address of at most 2048 characters, without user info.'
const SECRET_WRONG = 'secret must be 1 to 1024 visible ASCII characters, without spaces.'
const ID_WRONG = "id must be 1 to 64 letters, digits, '_' or '-'."
const NO_APP = 'This app does not exist at this provider.'
const SUSPENDED = ['This app is suspended.', 'app_suspended'] as const

const url = 'https://hooks.example.org/in?a=1#b'
const set = { url, hasSecret: true }
const none = { url: null, hasSecret: false }

/** Creates an active app of this world's provider and team without a webhook, unless `more` says otherwise. */
async function mint(more: Record<string, unknown> = {}) {
  const appId = id('app')
  const data = { id: appId, name: 'App', teamId: world.ids.team, providerId: world.ids.provider, ...more }
  await world.db.app.create({ data })
  return appId
}

const put = (app: string, body: unknown, call: Call = {}) =>
  world.call('PUT', `/apps/${app}/webhook`, { body, ...call })
const get = (app: string, call: Call = {}) => world.call('GET', `/apps/${app}/webhook`, call)
const remove = (app: string, call: Call = {}) => world.call('DELETE', `/apps/${app}/webhook`, call)

const template = (app: string) =>
  world.db.app.findUniqueOrThrow({ where: { id: app }, select: { webhookUrl: true, webhookSecret: true } })
const empty = { webhookUrl: null, webhookSecret: null }

describe('an app without a webhook', () => {
  it('returns null as url and no secret', async () => {
    const reply = await get(await mint())
    expect([reply.status, reply.body]).toEqual([200, none])
    expect(reply.headers['content-type']).toMatch(/^application\/json/)
  })

  it('has a webhook after PUT', async () => {
    const app = await mint()
    const reply = await put(app, { url, secret: 's3cret' })
    expect([reply.status, reply.body]).toEqual([200, set])
    expect((await get(app)).body).toEqual(set)
  })
})

describe('an app with a webhook', () => {
  const withWebhook = async () => {
    const app = await mint()
    expect((await put(app, { url, secret: 's3cret' })).status).toBe(200)
    return app
  }

  it('replaces url and secret with PUT', async () => {
    const app = await withWebhook()
    const before = await template(app)
    const other = 'https://example.com'
    expect((await put(app, { url: other, secret: 's3cret' })).body).toEqual({ url: other, hasSecret: true })
    const after = await template(app)
    expect(after.webhookUrl).toBe(other)
    expect(after.webhookSecret).not.toBe(before.webhookSecret)
  })

  it('stores with a secret when it was set, and no time without one', async () => {
    const setAt = async (app: string) =>
      (await world.db.app.findUniqueOrThrow({ where: { id: app } })).secretSetAt?.getTime()
    const app = await mint()
    const before = world.core.now()
    await put(app, { url, secret: 's3cret' })
    const after = world.core.now()
    expect(await setAt(app)).toBeGreaterThanOrEqual(before)
    expect(await setAt(app)).toBeLessThanOrEqual(after)
    await put(app, { url })
    expect(await setAt(app)).toBeUndefined()
    await put(app, { url, secret: 's3cret' })
    await remove(app)
    expect(await setAt(app)).toBeUndefined()
  })

  it('drops the secret with PUT without a secret', async () => {
    const app = await withWebhook()
    expect((await put(app, { url })).body).toEqual({ url, hasSecret: false })
    expect(await template(app)).toEqual({ webhookUrl: url, webhookSecret: null })
    expect((await get(app)).body).toEqual({ url, hasSecret: false })
  })

  it('drops both with DELETE, which returns 204 and may be repeated', async () => {
    const app = await withWebhook()
    for (const reply of [await remove(app), await remove(app)]) {
      expect([reply.status, reply.text]).toEqual([204, ''])
      expect(reply.headers['content-type']).toBeUndefined()
      expect(await template(app)).toEqual(empty)
    }
    expect((await get(app)).body).toEqual(none)
  })

  it('leaves the webhooks of other apps unchanged', async () => {
    const [app, other] = [await withWebhook(), await withWebhook()]
    const before = await template(other)
    await remove(app)
    await put(app, { url: 'https://example.com' })
    expect(await template(other)).toEqual(before)
  })

  it('discards unknown fields of the body', async () => {
    const app = await mint()
    const extra = { hasSecret: true, id: 'other', state: 'suspended', webhookSecret: 'x', name: 'New', providerId: 'x' }
    const { status, body } = await put(app, { url, ...extra })
    expect([status, body]).toEqual([200, { url, hasSecret: false }])
    const row = await world.db.app.findUniqueOrThrow({ where: { id: app } })
    expect(row).toMatchObject({ name: 'App', state: 'active', providerId: world.ids.provider, webhookSecret: null })
  })
})

describe('url', () => {
  it.each([
    ['every part', 'https://example.org:8443/a/../b%20c?d=e&f=%2F#g'],
    ['mixed case', 'https://Example.ORG/Path'],
    ['not normalised', 'https://example.org:443/a/../ä'],
    ['an international name', 'https://bücher.example/'],
    ['* behind the host', 'https://example.org/*?a=*'],
    ['@ behind the host', 'https://example.org/@me?to=a@b'],
    ['2048 characters', `https://example.org/${'x'.repeat(2028)}`],
    ['a private address', 'https://127.0.0.1/hook'],
    ['a private IPv6 address', 'https://[::1]:8443/hook'],
  ])('is accepted and returned as sent: %s', async (_, sent) => {
    const app = await mint()
    const reply = await put(app, { url: sent })
    expect([reply.status, reply.body]).toEqual([200, { url: sent, hasSecret: false }])
    expect((await get(app)).body).toEqual({ url: sent, hasSecret: false })
  })

  it.each([
    ['is missing', undefined],
    ['is null', null],
    ['is a number', 5],
    ['is http', 'http://example.org'],
    ['begins in upper case', 'HTTPS://example.org'],
    ['begins with a space', ' https://example.org'],
    ['has a backslash before the host', 'https://\\example.org'],
    ['has no host', 'https://'],
    ['has a port and no host', 'https://:443/'],
    ['has an invalid port', 'https://example.org:99999/'],
    ['has an invalid host', 'https://exa mple.org/'],
    ['has a user', 'https://user@example.org'],
    ['has empty user info', 'https://@example.org/'],
    ['has user info behind a backslash', 'https://user@\\example.org'],
    ['has a space', 'https://example.org/a b'],
    ['has another space', 'https://example.org/a\u00a0b'],
    ['has a pattern as its host', 'https://*.example.org/'],
    ['has a star in its host', 'https://a*b.example.org/'],
    ['has a tab', 'https://example.org/a\tb'],
    ['has a DEL', 'https://example.org/\x7f'],
    ['has a lone surrogate', 'https://example.org/\ud83d'],
    ['has 2049 characters', `https://example.org/${'x'.repeat(2029)}`],
  ])('is refused, and nothing is stored, when it %s', async (_, sent) => {
    const app = await mint({ webhookUrl: 'https://before.example', webhookSecret: 'sealed' })
    expectRefusal(await put(app, { url: sent, secret: 's3cret' }), 400, 'invalid_request', URL_WRONG)
    expect(await template(app)).toEqual({ webhookUrl: 'https://before.example', webhookSecret: 'sealed' })
  })
})

describe('secret', () => {
  it.each([
    ['one character', '!'],
    ['1024 characters', '~'.repeat(1024)],
    ['every visible ASCII character', String.fromCharCode(...Array.from({ length: 94 }, (_, n) => 0x21 + n))],
  ])('is accepted and can be decrypted for its app only: %s', async (_, secret) => {
    const app = await mint()
    expect((await put(app, { url, secret })).body).toEqual(set)
    const { webhookSecret } = await template(app)
    expect(world.core.cipher.decrypt(webhookSecret!, `App.webhookSecret:${app}`)).toBe(secret)
    expect(() => world.core.cipher.decrypt(webhookSecret!, 'App.webhookSecret:other')).toThrow()
  })

  it.each([
    ['is null', null],
    ['is empty', ''],
    ['is a number', 1],
    ['has a space', 'a b'],
    ['ends with a line break', 's3cret\n'],
    ['has a control character', 's3cret\x01'],
    ['is not ASCII', 'schlüssel'],
    ['has 1025 characters', 's'.repeat(1025)],
  ])('is refused, and nothing is stored, when it %s', async (_, secret) => {
    const app = await mint({ webhookUrl: 'https://before.example', webhookSecret: 'sealed' })
    expectRefusal(await put(app, { url, secret }), 400, 'invalid_request', SECRET_WRONG)
    expect(await template(app)).toEqual({ webhookUrl: 'https://before.example', webhookSecret: 'sealed' })
  })

  it('is encrypted at rest and appears in no response, error or log line', async () => {
    const log: string[] = []
    const logging = await startWorld({ like: world, onLog: (line) => log.push(line) })
    onTestFinished(() => logging.close())
    const app = await mint()
    const send = (method: string, of: string, call: Call = {}) => logging.call(method, `/apps/${of}/webhook`, call)
    const secret = 'correct-horse-battery-staple'
    const headers = { 'x-request-id': 'the-id' }
    const replies = [
      await send('PUT', app, { body: { url, secret } }),
      await send('GET', app),
      await send('PUT', app, { body: { url: 'http://example.org', secret } }),
      await send('PUT', app, { body: { url, secret: `${secret} ` } }),
      await send('PUT', app, { body: { url, secret: [secret] } }),
      await send('PUT', app, { body: `{"url":"${url}","secret":"${secret}` }),
      await send('PUT', 'no-app', { body: { url, secret }, headers }),
      await send('PUT', 'no.app', { body: { url, secret } }),
      await send('DELETE', app),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 400, 400, 400, 400, 404, 400, 204])
    const sent = replies.map(({ text, headers }) => text + JSON.stringify(headers)).join('\n')
    await send('PUT', app, { body: { url, secret } })
    const row = JSON.stringify(await world.db.app.findUniqueOrThrow({ where: { id: app } }))
    expect(log.join('\n')).toContain('the-id')
    for (const text of [sent, row, log.join('\n')]) {
      for (const form of [secret, Buffer.from(secret).toString('base64url'), Buffer.from(secret).toString('hex')]) {
        expect(text).not.toContain(form)
      }
    }
  })
})

describe('a refused request', () => {
  const methods = [
    ['PUT', (app: string, call?: Call) => put(app, { url, secret: 's3cret' }, call)],
    ['DELETE', remove],
    ['GET', get],
  ] as const

  describe.each(methods)('%s', (method, request) => {
    const before = { webhookUrl: 'https://before.example', webhookSecret: 'sealed' }

    it('returns 404 for an unknown app', async () => {
      expectRefusal(await request(id('app')), 404, 'not_found', NO_APP)
    })

    it.each(['active', 'suspended'])('returns 404 for an app (%s) of another provider', async (state) => {
      const providerId = id('provider')
      await world.db.organisation.create({ data: { id: providerId, kind: 'provider', name: 'Other' } })
      await world.db.membership.create({ data: { organisationId: providerId, personId: world.ids.member } })
      const app = await mint({ ...before, providerId, state })
      expectRefusal(await request(app), 404, 'not_found', NO_APP)
      expect(await template(app)).toEqual(before)
      const own = await request(app, { claims: { organisation: providerId } })
      expect(own.status).toBe(method === 'GET' ? 200 : state === 'suspended' ? 409 : method === 'PUT' ? 200 : 204)
    })

    it.each(['active', 'suspended'])('returns 404 for an app (%s) of another team', async (state) => {
      const [teamId, client_id] = [id('team'), id('client')]
      await world.db.team.create({ data: { id: teamId, name: 'Neighbour', level: 'developer' } })
      await world.db.client.create({ data: { id: client_id, name: 'C', teamId, environment: 'production' } })
      const [own, neighbours] = [await mint({ ...before, state }), await mint({ ...before, state, teamId })]
      expectRefusal(await request(own, { claims: { client_id } }), 404, 'not_found', NO_APP)
      expectRefusal(await request(neighbours), 404, 'not_found', NO_APP)
      expect([await template(own), await template(neighbours)]).toEqual([before, before])
      const allowed = method === 'GET' ? 200 : state === 'suspended' ? 409 : method === 'PUT' ? 200 : 204
      expect((await request(own)).status).toBe(allowed)
      expect((await request(neighbours, { claims: { client_id } })).status).toBe(allowed)
    })

    it('returns 404 to a first-party client, which has no app', async () => {
      const app = await mint(before)
      expectRefusal(await request(app, { claims: { client_id: world.ids.platform } }), 404, 'not_found', NO_APP)
      expect(await template(app)).toEqual(before)
    })

    it.each(['a.b', 'a%20b', '%00', 'a%2Fb', '%C3%A4', 'x'.repeat(65), 'x'.repeat(10_000), '%F0%9F%98%80'])(
      'returns 400 or 422 for the malformed id %s',
      async (malformed) => {
        const reply = await request(malformed)
        expectRefusal(reply, method === 'GET' ? 422 : 400, 'invalid_request', ID_WRONG)
      },
    )

    it('accepts an id of 64 characters', async () => {
      const app = `${id('app')}-_`.padEnd(64, 'Z')
      expectRefusal(await request(app), 404, 'not_found', NO_APP)
      await world.db.app.create({
        data: { id: app, name: 'A', teamId: world.ids.team, providerId: world.ids.provider },
      })
      expect((await request(app)).status).toBe(method === 'DELETE' ? 204 : 200)
    })
  })

  it.each(methods.slice(0, 2))('returns 409 for a suspended app: %s', async (_, request) => {
    for (const before of [empty, { webhookUrl: 'https://before.example', webhookSecret: 'sealed' }]) {
      const app = await mint({ ...before, state: 'suspended' })
      expectRefusal(await request(app), 409, 'conflict', ...SUSPENDED)
      expect(await template(app)).toEqual(before)
    }
  })

  it('checks the id, then the body, then the app, then its state', async () => {
    expectRefusal(await put('a.b', { url: 'http://example.org' }), 400, 'invalid_request', ID_WRONG)
    expectRefusal(await put('a.b', '{'), 400, 'invalid_request', ID_WRONG)
    expectRefusal(await put(id('app'), { url: 'http://example.org', secret: '' }), 400, 'invalid_request', URL_WRONG)
    expectRefusal(await put(id('app'), { url, secret: '' }), 400, 'invalid_request', SECRET_WRONG)
    const app = await mint({ state: 'suspended' })
    expectRefusal(await put(app, { url: 'http://example.org' }), 400, 'invalid_request', URL_WRONG)
  })
})

const otherUrl = 'https://hooks.example.org/in'
const before = { webhookUrl: 'https://before.example', webhookSecret: 'sealed' }

async function mintBefore() {
  const appId = id('app')
  const { team: teamId, provider: providerId } = world.ids
  await world.db.app.create({ data: { id: appId, name: 'App', teamId, providerId, ...before } })
  return appId
}

const removal = (app: string) => (tx: Transaction) => tx.app.delete({ where: { id: app } })
const suspension = (app: string) => (tx: Transaction) =>
  tx.app.update({ where: { id: app }, data: { state: 'suspended' } })

describe('concurrent PUTs', () => {
  it('leave url and secret of one request', async () => {
    const app = await mintBefore()
    const bodies = Array.from({ length: 20 }, (_, n) => ({ url: `https://example.org/${n}`, secret: `secret-${n}` }))
    const replies = await Promise.all(bodies.map((body) => put(app, body)))
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    const { webhookUrl, webhookSecret } = await template(app)
    const secret = world.core.cipher.decrypt(webhookSecret!, `App.webhookSecret:${app}`)
    expect(bodies).toContainEqual({ url: webhookUrl, secret })
  })
})

describe.each([
  ['PUT with a secret', (app: string) => put(app, { url: otherUrl, secret: 's3cret' })],
  ['PUT without a secret', (app: string) => put(app, { url: otherUrl })],
  ['DELETE', (app: string) => world.call('DELETE', `/apps/${app}/webhook`)],
])('%s', (_, request) => {
  it('returns 404 when the app is removed meanwhile', async () => {
    const app = await mintBefore()
    const reply = await meanwhile(world.db, removal(app), () => request(app))
    expectRefusal(reply, 404, 'not_found', 'This app does not exist at this provider.')
    expect(await world.db.app.findUnique({ where: { id: app } })).toBeNull()
  })

  it('returns 409 and changes nothing when the app is suspended meanwhile', async () => {
    const app = await mintBefore()
    const reply = await meanwhile(world.db, suspension(app), () => request(app))
    expectRefusal(reply, 409, 'conflict', 'This app is suspended.', 'app_suspended')
    expect(await template(app)).toEqual(before)
  })

  it('changes the app when its suspension is rolled back', async () => {
    const app = await mintBefore()
    const { status } = await meanwhile(world.db, suspension(app), () => request(app), { undo: true })
    expect(status).toBeLessThan(300)
    expect(await template(app)).not.toEqual(before)
  })
})
