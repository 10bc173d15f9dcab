import { decodeJwt } from 'jose'
import * as openid from 'openid-client'
import { beforeAll, describe, expect, it } from 'vitest'
import { hashOfToken } from '../../server/oauth/engine/refresh-rotation.ts'
import { startedAround } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { authWorld, issuer, redirectUri, register, startAuthWorld } from './auth-world.ts'
import { deviceFlow, deviceGrant } from './device-world.ts'

const scope = 'svc.me.profile:read svc.me.groups:read'

const here = authWorld()
let client: string
let flow: ReturnType<typeof deviceFlow>
beforeAll(async () => {
  client = await register(here.world, { devices: true, redirectUris: [] })
  flow = deviceFlow(here)
})

const allow = (code: string, asked = scope, browser = here.newBrowser()) =>
  flow.allow(code, asked, here.world.ids.member, here.world.ids.club, browser)
const polled = async (device: string, by = client) => {
  const { status, json } = await flow.poll(by, device)
  return [status, json.error]
}

describe('a device', () => {
  it('gets a code for itself, and a short one for its member, for 10 minutes', async () => {
    const answer = await flow.authorize({ client_id: client, scope })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' })
    expect(answer.json).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: `${issuer}/device`,
      verification_uri_complete: `${issuer}/device?user_code=${answer.json.user_code}`,
      expires_in: 600,
      interval: 5,
    })
  })

  it('is found in both metadata documents', async () => {
    for (const at of ['oauth-authorization-server', 'openid-configuration']) {
      expect((await here.app.get(`${issuer}/.well-known/${at}`)).json).toMatchObject({
        device_authorization_endpoint: `${issuer}/device/auth`,
        grant_types_supported: expect.arrayContaining([deviceGrant]),
      })
    }
  })

  it('gets tokens once its member has allowed it, renews them, and ends with the consent', async () => {
    const { device_code, user_code } = await flow.begin(client, scope)
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
    const done = await allow(user_code)
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('The device is connected')])
    here.world.advance(5)
    const { status, json } = await flow.poll(client, device_code)
    expect([status, json.scope]).toEqual([200, scope])
    expect(decodeJwt(json.access_token)).toMatchObject({
      sub: here.world.ids.member,
      organisation: here.world.ids.club,
      client_id: client,
    })
    expect(await here.profileStatus(json.access_token)).toBe(200)
    const renewed = await here.refresh(client, json.refresh_token)
    expect(renewed.status).toBe(200)
    const [consent, ...others] = await here.world.db.consent.findMany({ where: { clientId: client } })
    expect([consent!.scopes, consent!.organisationId, others]).toEqual([scope.split(' '), here.world.ids.club, []])

    const browser = here.newBrowser()
    const connected = await here.toConsent(browser, new URL(`${issuer}/connected`), here.world.ids.member)
    expect(connected.text).toContain(consent!.id)
    await browser.submit(connected, 'withdraw', { consent: consent!.id })
    here.world.advance(5)
    expect(await here.profileStatus(renewed.json.access_token)).toBe(401)
    expect((await here.refresh(client, renewed.json.refresh_token)).json.error).toBe('invalid_grant')
  })

  it('with openid gets an ID token and userinfo', async () => {
    const asked = 'openid profile'
    const own = await register(here.world, { devices: true, redirectUris: [], scopes: asked.split(' ') })
    const { device_code, user_code } = await flow.begin(own, asked)
    await allow(user_code, asked)
    const { json } = await flow.poll(own, device_code)
    expect(decodeJwt(json.id_token)).toMatchObject({
      sub: here.world.ids.member,
      aud: own,
      auth_time: expect.any(Number),
    })
    const { access_token: token } = json
    const { json: claims } = await here.app.get(`${issuer}/userinfo`, { authorization: `Bearer ${token}` })
    expect(claims).toMatchObject({ sub: here.world.ids.member, name: expect.any(String) })
  })

  it('whose library is openid-client gets its codes and its tokens', async () => {
    const customFetch: openid.CustomFetch = async (url, { method, headers, body }) => {
      const answer = await here.app.send(method, new URL(url), headers, body?.toString())
      return new Response(answer.text, { status: answer.status, headers: { 'content-type': 'application/json' } })
    }
    const config = await openid.discovery(new URL(issuer), client, undefined, openid.None(), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
      [openid.customFetch]: customFetch,
    })
    const begun = await openid.initiateDeviceAuthorization(config, { scope })
    await allow(begun.user_code)
    // Otherwise it waits for the interval before its first poll.
    const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...begun, interval: 0 })
    expect(tokens.scope).toBe(scope)
  })

  it('gets no scope that its member has unticked', async () => {
    const { device_code, user_code } = await flow.begin(client, scope)
    await allow(user_code, 'svc.me.groups:read')
    expect((await flow.poll(client, device_code)).json.scope).toBe('svc.me.groups:read')
  })

  it('gets access_denied once its member has refused', async () => {
    const consents = await here.world.db.consent.count({ where: { clientId: client } })
    const { device_code, user_code } = await flow.begin(client, scope)
    const [page, browser] = await flow.toDecision(user_code, here.world.ids.member)
    const done = await flow.decideOn(page, browser, { decision: 'refuse' })
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('The device was refused')])
    expect(await polled(device_code)).toEqual([400, 'access_denied'])
    expect(await polled(device_code)).toEqual([400, 'invalid_grant'])
    expect(await here.world.db.consent.count({ where: { clientId: client } })).toBe(consents)
  })

  it('authenticates where its client does', async () => {
    const own = await register(here.world, { devices: true, redirectUris: [], authentication: 'client_secret' })
    const secret = id('secret')
    const times = { createdAt: new Date(), expiresAt: new Date(Date.now() + 86_400_000) }
    await here.world.db.clientSecret.create({
      data: { id: id('s'), clientId: own, hash: hashOfToken(secret), ...times },
    })
    expect((await flow.authorize({ client_id: own, scope })).json.error).toBe('invalid_client')
    const { device_code, user_code } = await flow.begin(own, scope, { client_secret: secret })
    const stored = await here.world.db.oauthRecord.findUnique({
      where: { of: { model: 'DeviceCode', id: hashOfToken(device_code) } },
    })
    expect(JSON.stringify(stored)).not.toContain(secret)
    await allow(user_code)
    expect(await polled(device_code, own)).toEqual([401, 'invalid_client'])
    expect((await flow.poll(own, device_code, { client_secret: secret })).status).toBe(200)
  })
})

describe('a poll', () => {
  it('before the interval gets slow_down, and 5 s more each time', async () => {
    const { device_code } = await flow.begin(client, scope)
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
    const after = async (seconds: number) => {
      here.world.advance(seconds)
      return (await polled(device_code))[1]
    }
    expect(await after(4)).toBe('slow_down')
    expect(await after(9)).toBe('slow_down')
    expect(await after(14)).toBe('slow_down')
    expect(await after(20)).toBe('authorization_pending')
    expect(await after(20)).toBe('authorization_pending')
  })

  it('after 10 minutes gets expired_token, and its code is no longer accepted', async () => {
    const { device_code, user_code } = await flow.begin(client, scope)
    here.world.advance(598)
    expect(await polled(device_code)).toEqual([400, 'authorization_pending'])
    here.world.advance(4)
    expect(await polled(device_code)).toEqual([400, 'expired_token'])
    expect((await flow.enter(user_code, here.newBrowser())).status).toBe(400)
  })

  it('of a code that expired between the two pages changes nothing', async () => {
    const { device_code, user_code } = await flow.begin(client, scope)
    const [page, browser] = await flow.toDecision(user_code, here.world.ids.member)
    here.world.advance(601)
    const { member, club } = here.world.ids
    const before = await here.world.db.consent.count({ where: { personId: member, withdrawnAt: null } })
    const done = await flow.decideOn(page, browser, { organisation: club, scope: scope.split(' '), decision: 'allow' })
    expect(done.status).toBe(400)
    expect(await here.world.db.consent.count({ where: { personId: member, withdrawnAt: null } })).toBe(before)
    expect(await polled(device_code)).toEqual([400, 'expired_token'])
  })
})

describe('a client', () => {
  const refused = async (more: object, error: string, asked = scope) => {
    const own = await register(here.world, more)
    const { status, json } = await flow.authorize({ client_id: own, scope: asked })
    expect([status, json.error]).toEqual([400, error])
    const where = { model: 'DeviceCode', payload: { path: ['clientId'], equals: own } }
    expect(await here.world.db.oauthRecord.count({ where })).toBe(0)
    return own
  }

  it('that is not registered for devices gets no codes', async () => {
    const own = await refused({ redirectUris: [redirectUri] }, 'unauthorized_client')
    const { device_code } = await flow.begin(client, scope)
    expect(await polled(device_code, own)).toEqual([400, 'unauthorized_client'])
  })

  it('pending approval gets no codes', () => refused({ devices: true, state: 'requested' }, 'unauthorized_client'))

  it('gets no codes without a scope of its own', () =>
    refused({ devices: true, scopes: ['svc.me.groups:read'] }, 'invalid_scope', 'svc.me.profile:read'))

  it('without redirect URIs cannot send browsers here', async () => {
    const { url } = here.authorizeUrl({ client, scope })
    const page = await here.newBrowser().get(url)
    expect([page.status, page.location]).toEqual([400, undefined])
  })

  it('with redirect URIs and devices signs in by either way', async () => {
    const both = await register(here.world, { devices: true })
    expect((await here.toTokens({ client: both, scope })).token_type).toBe('Bearer')
    const { device_code, user_code } = await flow.begin(both, scope)
    await allow(user_code)
    expect((await flow.poll(both, device_code)).status).toBe(200)
  })
})

describe('two nodes', () => {
  const scope = 'svc.me.profile:read'
  /** Failed requests for tokens per address. */
  const FAILURES = 3
  const there = startedAround(() => startAuthWorld({ like: here.world }))
  const strict = startedAround(() => startAuthWorld({ like: here.world, tokenFailures: FAILURES }))
  let client: string
  let nodes: ReturnType<typeof deviceFlow>[]
  beforeAll(async () => {
    client = await register(here.world, { devices: true, redirectUris: [] })
    nodes = [deviceFlow(here), deviceFlow(there)]
    for (const { world } of [there, strict]) world.advance(here.world.now() - world.now())
  })

  /** Every other request goes to the other node. */
  const atOnce = <T>(count: number, work: (node: ReturnType<typeof deviceFlow>) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, at) => work(nodes[at % 2]!)))
  const counted = (values: (string | number)[]) =>
    Object.fromEntries([...new Set(values)].sort().map((one) => [one, values.filter((other) => other === one).length]))

  describe('at once on two nodes', () => {
    it('polls of an allowed code: one gets tokens, which stay', async () => {
      const { device_code, user_code } = await nodes[0]!.begin(client, scope)
      await nodes[1]!.allow(user_code, scope, here.world.ids.member, here.world.ids.club)
      const answers = await atOnce(8, (node) => node.poll(client, device_code))
      expect(counted(answers.map(({ status, json }) => json.error ?? status))).toEqual({ 200: 1, invalid_grant: 7 })
      const { json } = answers.find(({ status }) => status === 200)!
      expect((await there.refresh(client, json.refresh_token)).status).toBe(200)
    })

    it('polls of a code that waits: one may wait on, each other adds 5 s', async () => {
      const { device_code } = await nodes[0]!.begin(client, scope)
      const answers = await atOnce(3, (node) => node.poll(client, device_code))
      expect(counted(answers.map(({ json }) => json.error))).toEqual({ authorization_pending: 1, slow_down: 2 })
      const after = async (seconds: number) => {
        for (const { world } of [here, there]) world.advance(seconds)
        return (await nodes[1]!.poll(client, device_code)).json.error
      }
      expect(await after(14)).toBe('slow_down')
      expect(await after(20)).toBe('authorization_pending')
    })

    it('decisions: one holds', async () => {
      const { device_code, user_code } = await nodes[0]!.begin(client, scope)
      const pages = await Promise.all(nodes.map((node) => node.toDecision(user_code, here.world.ids.member)))
      const decisions = [{ decision: 'refuse' }, { decision: 'allow', organisation: here.world.ids.club, scope }]
      const answers = await Promise.all(
        pages.map(([page, browser], at) => nodes[at]!.decideOn(page, browser, decisions[at]!)),
      )
      expect(counted(answers.map(({ status }) => status))).toEqual({ 200: 1, 400: 1 })
      const { status, json } = await nodes[1]!.poll(client, device_code)
      expect(json.error ?? status).toBe(answers[0]!.status === 200 ? 'access_denied' : 200)
    })
  })

  it('polls of many devices that wait are no failures of their address, and those of a hasty one count for itself', async () => {
    const node = deviceFlow(strict)
    const devices = await Promise.all(Array.from({ length: FAILURES + 2 }, () => node.begin(client, scope)))
    for (const { device_code } of devices) {
      expect((await node.poll(client, device_code)).json.error).toBe('authorization_pending')
    }
    const [hasty, other] = devices
    const errors = []
    // First its address's failures, then its own.
    for (let time = 0; time < 2 * FAILURES + 1; time++) {
      errors.push((await node.poll(client, hasty!.device_code)).json.error)
    }
    expect(counted(errors)).toEqual({ slow_down: 2 * FAILURES, temporarily_unavailable: 1 })
    strict.world.advance(5)
    expect((await node.poll(client, other!.device_code)).json.error).toBe('authorization_pending')
  })
})
