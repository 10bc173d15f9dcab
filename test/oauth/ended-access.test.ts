import { decodeJwt, decodeProtectedHeader } from 'jose'
import * as openid from 'openid-client'
import { beforeEach, describe, expect, inject, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { removeClientIn } from '../../routers/developer/clients/removal.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { revokeKey } from '../../server/oauth/keys/signing-key-store.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { query } from '../support/databases.ts'
import { asPlatform, mintApp } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import type { AuthWorld, Tokens } from './auth-world.ts'
import { authWorld, issuer, redirectUri, register, startAuthWorld } from './auth-world.ts'
import { api, discover, everything, registerOpenid } from './openid-world.ts'

const auth = authWorld()

const scope = api
const signedIn = async () => {
  const client = await register(auth.world)
  return { client, ...(await auth.toTokens({ client, scope })) }
}
const revoke = (fields: Record<string, string>) => auth.app.post(`${issuer}/revoke`, fields)
const isLive = async ({ client, refresh_token }: { client: string; refresh_token: string }) =>
  (await auth.refresh(client, refresh_token)).status === 200

describe('the revocation of an access token', () => {
  it.each([{}, { token_type_hint: 'access_token' }, { token_type_hint: 'refresh_token' }, { token_type_hint: 'x' }])(
    'with %j ends its grant, and no other',
    async (hint) => {
      const [one, other] = [await signedIn(), await signedIn()]
      const answer = await revoke({ client_id: one.client, token: one.access_token, ...(hint as object) })
      expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
        200,
        '{}',
        'application/json; charset=utf-8',
      ])
      auth.world.advance(5)
      expect([await auth.profileStatus(one.access_token), await isLive(one)]).toEqual([401, false])
      expect([await auth.profileStatus(other.access_token), await isLive(other)]).toEqual([200, true])
      expect((await revoke({ client_id: one.client, token: one.access_token })).status).toBe(200)
      const { gid } = decodeJwt(one.access_token)
      const consent = await auth.world.db.consent.findUniqueOrThrow({ where: { id: String(gid) } })
      expect([consent.withdrawnAt !== null, consent.replayedAt]).toEqual([true, null])
    },
  )

  it('that has expired ends its grant', async () => {
    const one = await signedIn()
    auth.world.advance(16 * 60)
    expect((await revoke({ client_id: one.client, token: one.access_token })).status).toBe(200)
    expect(await isLive(one)).toBe(false)
  })

  it('of another client ends nothing', async () => {
    const [one, other] = [await signedIn(), await signedIn()]
    expect((await revoke({ client_id: other.client, token: one.access_token })).status).toBe(200)
    auth.world.advance(5)
    expect([await auth.profileStatus(one.access_token), await isLive(one)]).toEqual([200, true])
  })

  it('that is unknown, forged, an ID token, or of a revoked key ends nothing, and is 200', async () => {
    const client = await registerOpenid(auth)
    const tokens = await auth.toTokens({ client, scope: everything })
    const [header, payload] = tokens.access_token.split('.')
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')
    for (const token of [
      ...[
        'text',
        'a.b.c',
        `${header}.${payload}.`,
        `${none}.${payload}.`,
        `${tokens.access_token.slice(0, -8)}AAAAAAAA`,
      ],
      ...[tokens.id_token, await auth.world.token({ client_id: client })],
    ]) {
      expect((await revoke({ client_id: client, token })).status).toBe(200)
    }
    const store = { db: auth.world.db, cipher: createCipher(auth.world.secretsKeys), now: auth.world.core.now }
    await revokeKey(store, decodeProtectedHeader(tokens.access_token).kid!)
    await auth.world.oauth!.reload()
    expect((await revoke({ client_id: client, token: tokens.access_token })).status).toBe(200)
    expect(await isLive({ client, ...tokens })).toBe(true)
  })

  it('needs a client, and a token', async () => {
    const one = await signedIn()
    for (const [fields, status] of [
      [{ token: one.access_token }, 400],
      [{ token: one.access_token, client_id: 'nobody' }, 401],
      [{ client_id: one.client }, 400],
    ] as const) {
      expect((await revoke(fields)).status).toBe(status)
    }
    expect(await isLive(one)).toBe(true)
  })

  it('works with openid-client', async () => {
    const one = await signedIn()
    await openid.tokenRevocation(await discover(auth, one.client), one.access_token)
    expect(await isLive(one)).toBe(false)
  })
})

const twoScopes = 'svc.me.profile:read svc.me.groups:read'

const setScopes = async (client: string, scopes: string[]) => {
  await auth.world.db.client.update({ where: { id: client }, data: { scopes } })
  auth.world.advance(5)
}
const get = async (path: string, token: string) => {
  const { status, body } = await auth.world.call('GET', path, { token })
  return status === 200 ? status : [status, body.detail]
}

it('a scope that is taken from a client is refused within 5 s with tokens issued before, and given back works', async () => {
  const client = await register(auth.world)
  const { access_token: token, refresh_token } = await auth.toTokens({ client, scope: twoScopes })
  expect([await get('/me/profile', token), await get('/me/groups', token)]).toEqual([200, 200])
  await setScopes(client, ['svc.me.groups:read'])
  const refused = [403, 'This token does not carry the svc.me.profile:read scope.']
  expect([await get('/me/profile', token), await get('/me/groups', token)]).toEqual([refused, 200])
  const renewed = await auth.refresh(client, refresh_token)
  expect(renewed.json.scope).toBe('svc.me.groups:read')
  await setScopes(client, memberScopes)
  expect(await get('/me/profile', token)).toBe(200)
})

it('a scope that is given to a client later is not in tokens issued before', async () => {
  const client = await register(auth.world, { scopes: ['svc.me.groups:read'] })
  const { access_token: token } = await auth.toTokens({ client, scope: 'svc.me.groups:read' })
  await setScopes(client, memberScopes)
  expect(await get('/me/profile', token)).toEqual([403, 'This token does not carry the svc.me.profile:read scope.'])
})

describe('a suspended app', () => {
  const scope = 'svc.me.profile:read'
  /** An app of its own, and its client. */
  let app: string
  let client: string
  beforeEach(async () => {
    app = await mintApp(auth.world)
    client = await register(auth.world, { appId: app })
  })

  const setState = (state: 'active' | 'suspended') => auth.world.db.app.update({ where: { id: app }, data: { state } })
  const toCode = () => auth.toCode({ client, scope })
  const toTokens = () => auth.toTokens({ client, scope })
  const issued = () =>
    Promise.all([
      auth.world.db.consent.findMany({ where: { clientId: client } }),
      auth.world.db.oauthRecord.findMany({ where: { payload: { path: ['clientId'], equals: client } } }),
    ])

  it('gets no sign-in: its member is sent back with an error', async () => {
    await setState('suspended')
    const page = await auth.newBrowser().open(auth.authorizeUrl({ client, scope }).url)
    expect(page.location!.origin + page.location!.pathname).toBe(redirectUri)
    expect(Object.fromEntries(page.location!.searchParams)).toEqual({
      error: 'unauthorized_client',
      error_description: 'this app is suspended',
      state: 'the-state',
      iss: issuer,
    })
  })

  it('gets no consent when it is suspended while the page is open', async () => {
    const browser = auth.newBrowser()
    const { club, member } = auth.world.ids
    const asking = await auth.toConsent(browser, auth.authorizeUrl({ client, scope }).url, member)
    await setState('suspended')
    const before = await issued()
    const page = await browser.submit(asking, 'consent', { organisation: club, scope: [scope], decision: 'allow' })
    expect(page.location?.searchParams.get('code')).toBeFalsy()
    expect(page.status).toBe(400)
    expect(await issued()).toEqual(before)
  })

  it('cannot redeem a code', async () => {
    const { code, verifier } = await toCode()
    await setState('suspended')
    const answer = await auth.exchange(client, code, verifier)
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_grant'])
  })

  it('cannot renew its tokens, which are refused within 5 s; both work again when the suspension ends', async () => {
    const { access_token, refresh_token } = await toTokens()
    const profile = () => auth.world.call('GET', '/me/profile', { token: access_token })
    expect((await profile()).status).toBe(200)
    await setState('suspended')
    const before = await issued()
    const answer = await auth.refresh(client, refresh_token)
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_grant'])
    auth.world.advance(5)
    const refused = await profile()
    expect([refused.status, refused.body.error.message]).toEqual([401, 'This token is not valid.'])
    expect(await issued()).toEqual(before)

    await setState('active')
    auth.world.advance(5)
    expect((await profile()).status).toBe(200)
    expect((await auth.refresh(client, refresh_token)).status).toBe(200)
  })
})

const service = authWorld()

it('the cookie of an ended session signs nobody in and stores nothing, however often it is sent', async () => {
  const { url } = service.authorizeUrl({ client: service.client, scope: 'svc.me.profile:read' })
  const browser = service.newBrowser()
  await service.toConsent(browser, url, service.world.ids.member)
  const cookies = [...browser.cookies]
  await browser.submit(await browser.open(`${issuer}/connected`), 'sign-out', {})
  for (let n = 0; n < 10; n++) {
    browser.cookies = [...cookies]
    expect((await browser.open(url)).text).toContain('name="member"')
  }
  const sessions = `SELECT id FROM "OauthRecord" WHERE model = 'Session' AND NOT payload ? 'accountId'`
  expect(await query(inject('databaseUrl'), sessions)).toEqual([])
})

it('a session ends 8 hours after its last use, and its id has 43 random characters', async () => {
  const { url } = service.authorizeUrl({ client: service.client, scope: 'svc.me.profile:read' })
  const browser = service.newBrowser()
  await service.toConsent(browser, url, service.world.ids.member)
  expect(browser.cookie('member_session')!.value).toMatch(/^[\w-]{43}$/)
  const [almost, more] = [8 * 3600 - 60, 8 * 3600 + 1]
  for (let n = 0; n < 2; n++) {
    service.world.advance(almost)
    expect((await browser.open(url)).text).toContain('name="decision"')
  }
  service.world.advance(more)
  expect((await browser.open(url)).text).toContain('name="member"')
  service.world.advance(-2 * almost - more)
})

it('another sign-in of the same person ends the session before it', async () => {
  const asked = { client: service.client, scope: 'svc.me.profile:read' }
  const browser = service.newBrowser()
  await service.toConsent(browser, service.authorizeUrl(asked).url, service.world.ids.member)
  const former = service.newBrowser()
  former.cookies = [...browser.cookies]
  const again = await browser.open(service.authorizeUrl({ ...asked, more: { prompt: 'login' } }).url)
  expect((await browser.submit(again, 'pick', { member: service.world.ids.member })).text).toContain('name="decision"')
  expect((await browser.open(`${issuer}/connected`)).text).toContain('Mia Member')
  expect((await former.open(`${issuer}/connected`)).text).toContain('name="member"')
})

describe('an access token in use', () => {
  /** The figure of docs/apps.md, "When access ends". */
  const SECONDS = 5

  let db: Database
  let auth: AuthWorld
  let client: string
  let tokens: Tokens
  beforeEach(async () => {
    auth = await startAuthWorld()
    db = auth.world.db
    client = await register(auth.world)
    return () => auth.world.close()
  })

  type Call = { scope: string; of: 'club' | 'provider'; path: () => string; procedure: string; input: () => object }
  const calls = {
    profile: {
      scope: 'svc.me.profile:read',
      of: 'club',
      path: () => '/me/profile',
      procedure: 'me.profile',
      input: () => ({}),
    },
    storage: {
      scope: 'svc.apps.storage:read',
      of: 'club',
      path: () => '/storage/c',
      procedure: 'storage.list',
      input: () => ({ collection: 'c' }),
    },
    webhook: {
      scope: 'ntf.apps.webhook:read',
      of: 'provider',
      path: () => `/apps/${auth.world.ids.app}/webhook`,
      procedure: 'webhook.get',
      input: () => ({ id: auth.world.ids.app }),
    },
  } satisfies Record<string, Call>

  /** Over REST and over tRPC: the status and the message of a refusal. */
  async function ask({ path, procedure, input }: Call) {
    const token = tokens.access_token
    const rest = await auth.world.call('GET', path(), { token })
    const query = new URLSearchParams({ input: JSON.stringify(input()) })
    const headers = { authorization: `Bearer ${token}` }
    const trpc = await auth.world.internal('GET', `/trpc/${procedure}?${query}`, { headers })
    const said = rest.body.detail ?? rest.body.error?.message
    return [rest.status, said, trpc.status, trpc.body.error?.message]
  }

  const membership = () => ({ organisation: auth.world.ids.club, person: auth.world.ids.member })
  const directory = () => asPlatform(auth.world).directory
  const ofConsent = () => ({ where: { clientId: client } })

  const NO_MEMBER = [404, 'This member does not exist in this club.']
  const INVALID = [401, 'This token is not valid.']
  const NO_SCOPE = [403, 'This token does not carry the svc.me.profile:read scope.']

  it.each<[string, () => Promise<unknown>, (number | string)[], Call?]>([
    ['a membership that is ended', () => directory().memberships.end({ ids: [membership()] }), NO_MEMBER],
    [
      'a membership whose row is deleted',
      () => db.membership.deleteMany({ where: { personId: auth.world.ids.member } }),
      NO_MEMBER,
    ],
    ['a person who is ended', () => directory().people.end({ ids: [auth.world.ids.member] }), NO_MEMBER],
    ['an organisation that is ended', () => directory().organisations.end({ ids: [auth.world.ids.club] }), NO_MEMBER],
    [
      'a consent that is withdrawn',
      async () => {
        const browser = auth.newBrowser()
        await browser.submit(await browser.open(`${issuer}/connected`), 'pick', { member: auth.world.ids.member })
        const consent = await db.consent.findFirstOrThrow(ofConsent())
        await reportingDue(auth.world.core, () => browser.post(`${issuer}/connected/withdraw`, { consent: consent.id }))
      },
      INVALID,
    ],
    [
      'a sign-in whose refresh token is revoked',
      () => auth.app.post(`${issuer}/revoke`, { token: tokens.refresh_token, client_id: client }),
      INVALID,
    ],
    [
      'a sign-in whose refresh token is used twice',
      async () => {
        await auth.refresh(client, (await auth.refresh(client, tokens.refresh_token)).json.refresh_token)
        await auth.refresh(client, tokens.refresh_token)
      },
      INVALID,
    ],
    [
      'an app that is suspended',
      () => db.app.update({ where: { id: auth.world.ids.app }, data: { state: 'suspended' } }),
      INVALID,
    ],
    ['a client that is removed', () => db.$transaction((tx) => removeClientIn(tx, client)), INVALID],
    [
      'a client that loses the scope',
      () => db.client.update({ where: { id: client }, data: { scopes: [] } }),
      NO_SCOPE,
    ],
    [
      'a client that loses its app',
      () => db.client.update({ where: { id: client }, data: { appId: null } }),
      [403, 'This client is not a the service app.'],
      calls.storage,
    ],
    [
      'a team that loses its level',
      () => db.team.update({ where: { id: auth.world.ids.team }, data: { level: 'hobby' } }),
      [403, 'The Developer membership is needed for this API.'],
      calls.webhook,
    ],
  ])('%s is refused after 5 s at the latest', async (_, end, refusal, call = calls.profile) => {
    const { ids, advance } = auth.world
    tokens = await auth.toTokens({ client, scope: call.scope }, ids.member, ids[call.of])
    expect(await ask(call)).toMatchObject({ 0: 200, 2: 200 })
    await end()
    advance(SECONDS)
    expect(await ask(call)).toEqual([...refusal, ...refusal])
  })
})
