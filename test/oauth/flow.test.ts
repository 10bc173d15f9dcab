import { decodeJwt, decodeProtectedHeader } from 'jose'
import * as client from 'openid-client'
import { describe, expect, it } from 'vitest'
import { authWorld, clubScopes, issuer, redirectUri } from './auth-world.ts'
import { Browser, offered } from './browser.ts'
import { api } from './openid-world.ts'

const auth = authWorld()

/** How openid-client reaches the service: names of test hosts do not resolve. */
const fetchFrom =
  (port: number): client.CustomFetch =>
  async (address, { method, headers, body }) => {
    const answer = await new Browser(port).send(method, new URL(address), headers, body?.toString())
    const empty = answer.status === 204 || answer.text === ''
    return new Response(empty ? null : answer.text, {
      status: answer.status,
      headers: answer.headers as Record<string, string>,
    })
  }

const discover = () =>
  client.discovery(new URL(issuer), auth.client, undefined, client.None(), {
    algorithm: 'oauth2',
    execute: [client.allowInsecureRequests],
    [client.customFetch]: fetchFrom(auth.world.publicPort),
  })

describe('an app that knows only the issuer', () => {
  it('signs a member in, reads their profile, refreshes its tokens and revokes them', async () => {
    const { world, toConsent, newBrowser } = auth
    const { member, club } = world.ids
    const config = await discover()
    const verifier = client.randomPKCECodeVerifier()
    const state = client.randomState()
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'svc.me.profile:read svc.apps.storage:read',
      state,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    })

    const browser = newBrowser()
    const page = await toConsent(browser, url, member)
    expect(page.status).toBe(200)
    expect(page.text).toContain('App')
    expect(offered(page, 'organisation')).toEqual([club])
    expect(offered(page, 'scope')).toEqual(['svc.me.profile:read', 'svc.apps.storage:read'])
    const back = await browser.submit(page, 'consent', {
      organisation: club,
      scope: ['svc.me.profile:read', 'svc.apps.storage:read'],
      decision: 'allow',
    })
    expect(back.location!.origin + back.location!.pathname).toBe(redirectUri)

    const tokens = await client.authorizationCodeGrant(config, back.location!, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    })
    expect(tokens).toMatchObject({
      token_type: 'bearer',
      expires_in: 900,
      scope: 'svc.me.profile:read svc.apps.storage:read',
    })
    const { gid } = decodeJwt(tokens.access_token)
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    expect(decodeJwt(tokens.access_token)).toEqual({
      iss: issuer,
      aud: 'urn:member-apps-api',
      sub: member,
      organisation: club,
      client_id: auth.client,
      scope: 'svc.me.profile:read svc.apps.storage:read',
      gid: expect.any(String),
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: expect.any(Number),
    })
    const profile = (token: string) => world.call('GET', '/me/profile', { token })
    expect(await profile(tokens.access_token)).toMatchObject({ status: 200, body: { id: member } })

    const renewed = await client.refreshTokenGrant(config, tokens.refresh_token!)
    expect(renewed.refresh_token).not.toBe(tokens.refresh_token)
    expect(decodeJwt(renewed.access_token)).toMatchObject({ gid, scope: tokens.scope })
    expect((await profile(renewed.access_token)).status).toBe(200)

    await client.tokenRevocation(config, renewed.refresh_token!)
    world.advance(5)
    expect((await profile(renewed.access_token)).status).toBe(401)
    expect((await profile(tokens.access_token)).body.error.message).toBe('This token is not valid.')
    await expect(client.refreshTokenGrant(config, renewed.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
  })

  it('reads the metadata at both of its addresses', async () => {
    const { app } = auth
    const inserted = await app.get('http://auth.test/.well-known/oauth-authorization-server/v1/oauth')
    const below = await app.get(`${issuer}/.well-known/oauth-authorization-server`)
    expect(inserted.status).toBe(200)
    expect(below.json).toEqual(inserted.json)
    expect(inserted.json).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      revocation_endpoint: `${issuer}/revoke`,
      jwks_uri: `${issuer}/jwks`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    })
    const jwks = await app.get(inserted.json.jwks_uri)
    const ofAccessTokens = jwks.json.keys.filter(({ alg }: { alg: string }) => alg === 'ES256')
    expect(ofAccessTokens).toEqual([expect.objectContaining({ kty: 'EC', crv: 'P-256', use: 'sig' })])
    expect(jwks.text).not.toMatch(/"d"/)
  })

  it('can call the endpoints from a page of any origin', async () => {
    const { app, token } = auth
    const origin = 'https://app.example'
    for (const [address, method] of [
      [`${issuer}/token`, 'POST'],
      ['http://apps.test/v1/oauth/token', 'POST'],
      [`${issuer}/revoke`, 'POST'],
      [`${issuer}/jwks`, 'GET'],
      ['http://auth.test/.well-known/oauth-authorization-server/v1/oauth', 'GET'],
    ] as const) {
      const preflight = await app.send('OPTIONS', new URL(address), {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type',
      })
      expect([address, preflight.status]).toEqual([address, 204])
      expect(preflight.headers['access-control-allow-methods']).toContain(method)
      expect(preflight.headers['access-control-allow-headers']).toContain('Content-Type')
      expect(preflight.headers['access-control-allow-origin']).toBe('*')
    }
    const refused = await token({ grant_type: 'refresh_token' }, { origin })
    expect(refused.headers['access-control-allow-origin']).toBe('*')
    expect(refused.headers['access-control-allow-credentials']).toBeUndefined()
  })

  it('refreshes at the apps host as well, as documented', async () => {
    const { client: clientId, toTokens, app } = auth
    const tokens = await toTokens({ client: clientId, scope: 'svc.me.profile:read' })
    const fields = { grant_type: 'refresh_token', client_id: clientId, refresh_token: tokens.refresh_token }
    const renewed = await app.post('http://apps.test/v1/oauth/token', fields)
    expect(renewed).toMatchObject({ status: 200, json: { token_type: 'Bearer', scope: 'svc.me.profile:read' } })
    const again = await app.post('http://apps.test/v1/oauth/token', { ...fields, refresh_token: 'unknown' })
    expect(again).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
    expect((await app.get(`${issuer}/token`)).status).toBe(405)
    expect((await app.get('http://apps.test/v1/oauth/jwks')).json).toEqual({
      detail: 'This API answers at auth.test.',
    })
  })
})

describe('a member', () => {
  it('who refuses leaves the app without tokens', async () => {
    const { world, client: clientId, authorizeUrl, toConsent, newBrowser } = auth
    const browser = newBrowser()
    const page = await toConsent(
      browser,
      authorizeUrl({ client: clientId, scope: 'svc.me.groups:read' }).url,
      world.ids.member,
    )
    const before = await world.db.consent.count({ where: { personId: world.ids.member } })
    const back = await browser.submit(page, 'consent', { decision: 'refuse' })
    expect(Object.fromEntries(back.location!.searchParams)).toEqual({
      error: 'access_denied',
      error_description: expect.any(String),
      state: 'the-state',
      iss: issuer,
    })
    expect(await world.db.consent.count({ where: { personId: world.ids.member } })).toBe(before)
  })

  it('who unticks a scope gives it to no token of that consent', async () => {
    const { world, client: clientId, authorizeUrl, toConsent, newBrowser, exchange, refresh } = auth
    const browser = newBrowser()
    const { url, verifier } = authorizeUrl({ client: clientId, scope: clubScopes.join(' ') })
    const page = await toConsent(browser, url, world.ids.member)
    const ticked = clubScopes.filter((scope) => scope !== 'svc.me.profile:read')
    const back = await browser.submit(page, 'consent', {
      organisation: world.ids.club,
      scope: ticked,
      decision: 'allow',
    })
    const tokens = (await exchange(clientId, back.location!.searchParams.get('code')!, verifier)).json
    expect(tokens.scope.split(' ').sort()).toEqual([...ticked].sort())
    const more = await refresh(clientId, tokens.refresh_token, { scope: clubScopes.join(' ') })
    expect([more.status, more.json.error]).toEqual([400, 'invalid_scope'])
    const renewed = (await refresh(clientId, tokens.refresh_token)).json
    expect(renewed.scope.split(' ').sort()).toEqual([...ticked].sort())
    const { status, body } = await world.call('GET', '/me/profile', { token: renewed.access_token })
    expect([status, body.detail]).toEqual([403, 'This token does not carry the svc.me.profile:read scope.'])
  })

  it('who is signed in and has allowed the same scopes is not asked again', async () => {
    const { client: clientId, authorizeUrl, toCode } = auth
    const asked = { client: clientId, scope: 'svc.me.profile:read svc.me.groups:read' }
    const { browser } = await toCode(asked)
    const again = await browser.open(authorizeUrl({ ...asked, scope: 'svc.me.profile:read' }).url)
    expect(again.location!.searchParams.get('code')).toEqual(expect.any(String))
    const more = await browser.open(authorizeUrl({ ...asked, scope: 'svc.me.events:read' }).url)
    expect(offered(more, 'scope')).toEqual(['svc.me.events:read'])
  })

  it('who has allowed an app in one club is asked again for another, which the app preselects', async () => {
    const { world, client: clientId, authorizeUrl, toCode } = auth
    const [person, other] = [`both-${world.ids.member}`, `other-${world.ids.club}`]
    await world.db.person.create({ data: { id: person, firstName: 'B', lastName: 'O', email: 'b@example.org' } })
    await world.db.organisation.create({ data: { id: other, kind: 'club', name: 'Other' } })
    await world.db.membership.createMany({
      data: [world.ids.club, other].map((organisationId) => ({ organisationId, personId: person })),
    })
    const asked = { client: clientId, scope: 'svc.me.profile:read' }
    const { browser } = await toCode(asked, person, world.ids.club)
    const askFor = (organisation: string) => browser.open(authorizeUrl({ ...asked, more: { organisation } }).url)
    expect((await askFor(world.ids.club)).location!.searchParams.has('code')).toBe(true)
    const page = await askFor(other)
    expect(page.location).toBeUndefined()
    expect(/value="([^"]+)" (?:required )?checked/.exec(page.text)?.[1]).toBe(other)
  })
})

const MAX = 4_096
const urlWith = (state: string) => auth.authorizeUrl({ client: auth.client, scope: api, more: { state } }).url
/** A request whose query has this length. */
const makeUrl = (length: number, fill: string) => {
  const without = urlWith('').search.length - 1
  return urlWith(
    fill.repeat(Math.floor((length - without) / new URLSearchParams({ '': fill }).toString().slice(1).length)),
  )
}

describe('a state', () => {
  it.each([
    ['letters', 's'],
    ['tildes, each of which is written as three characters', '~'],
    ['umlauts', 'ü'],
    ['spaces', ' '],
  ])('of %s that fill a query of 4 KB returns with the code, after a sign-in and a consent', async (_, fill) => {
    const url = makeUrl(MAX, fill)
    const state = url.searchParams.get('state')!
    expect(state.length).toBeGreaterThan(500)
    const { member, club } = auth.world.ids
    const browser = auth.newBrowser()
    const page = await auth.toConsent(browser, url, member)
    const back = await browser.submit(page, 'consent', { organisation: club, scope: [api], decision: 'allow' })
    expect(back.location!.searchParams.get('code')).toEqual(expect.any(String))
    expect(back.location!.searchParams.get('state')).toBe(state)
  })

  it('beyond that is refused, also where only the written form is longer', async () => {
    for (const url of [makeUrl(MAX + 1, 's'), `${urlWith('')}`.replace('state=', `state=${'~'.repeat(2_000)}`)]) {
      const page = await auth.newBrowser().open(url)
      expect([page.status, page.text]).toEqual([400, expect.stringContaining('the query is longer than 4 KB')])
    }
  })
})
