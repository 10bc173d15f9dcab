import { createHash } from 'node:crypto'
import { decodeProtectedHeader } from 'jose'
import * as openid from 'openid-client'
import { beforeAll, expect, it } from 'vitest'
import { authWorld, issuer, redirectUri } from './auth-world.ts'
import { api, discover, everything, registerOpenid, signIn, toApp, userinfo } from './openid-world.ts'

const auth = authWorld()
let client: string
let config: openid.Configuration
beforeAll(async () => {
  client = await registerOpenid(auth)
  config = await discover(auth, client)
})

const ask = (more: Record<string, string | undefined> = {}, browser = auth.newBrowser()) =>
  browser.open(auth.authorizeUrl({ client, scope: everything, more }).url)

// The checks of the OpenID Foundation's basic and config plans that apply to the code flow, by their names in the suite.
it('oidcc-discovery-endpoint-verification', async () => {
  const { json } = await auth.app.get(`${issuer}/.well-known/openid-configuration`)
  expect(json).toMatchObject({
    issuer,
    userinfo_endpoint: `${issuer}/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: expect.arrayContaining(['ES256', 'RS256']),
    scopes_supported: expect.arrayContaining(['openid', 'profile', 'email', api]),
    claims_supported: expect.arrayContaining(['sub', 'auth_time', 'name', 'email']),
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  })
  for (const url of Object.values<unknown>(json).filter((value) => String(value).startsWith('http'))) {
    expect(String(url).startsWith(issuer)).toBe(true)
  }
})

it('oidcc-server', async () => {
  const before = auth.world.now()
  const { claims, id_token, access_token } = await signIn(auth, config)
  expect(decodeProtectedHeader(id_token!)).toEqual({ alg: 'ES256', kid: expect.any(String) })
  const half = createHash('sha256').update(access_token).digest().subarray(0, 16)
  expect(claims).toEqual({
    iss: issuer,
    sub: auth.world.ids.member,
    aud: client,
    nonce: expect.any(String),
    iat: expect.any(Number),
    exp: claims.iat + 900,
    auth_time: expect.any(Number),
    at_hash: half.toString('base64url'),
  })
  expect(claims.auth_time).toBeGreaterThanOrEqual(before)
})

it('oidcc-userinfo-get', async () => {
  const { access_token, claims } = await signIn(auth, config)
  expect(await openid.fetchUserInfo(config, access_token, claims.sub)).toEqual({
    sub: auth.world.ids.member,
    email: 'mia@example.org',
    name: 'Mia Member',
    given_name: 'Mia',
    family_name: 'Member',
  })
})

it('oidcc-userinfo-post-header', async () => {
  const { access_token, claims } = await signIn(auth, config)
  expect((await userinfo(auth, access_token, 'POST')).json.sub).toBe(claims.sub)
})

it('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
  const tokens = await auth.toTokens({ client, scope: everything })
  expect(JSON.parse(Buffer.from(tokens.id_token.split('.')[1]!, 'base64url').toString())).not.toHaveProperty('nonce')
})

it('oidcc-scope-profile', async () => {
  const { access_token } = await signIn(auth, config, { scope: 'openid profile' })
  const { json } = await userinfo(auth, access_token)
  expect(Object.keys(json).sort()).toEqual(['family_name', 'given_name', 'name', 'sub'])
})

it('oidcc-scope-email', async () => {
  const { access_token } = await signIn(auth, config, { scope: 'openid email' })
  expect(Object.keys((await userinfo(auth, access_token)).json).sort()).toEqual(['email', 'sub'])
})

it('oidcc-scope-all', async () => {
  const { scope } = await signIn(auth, config, { scope: 'openid profile email address phone' })
  expect(scope).toBe('openid profile email')
})

it('oidcc-prompt-none-logged-in', async () => {
  const { browser, claims } = await signIn(auth, config)
  const silent = await signIn(auth, config, { prompt: 'none' }, browser)
  expect([silent.claims.sub, silent.claims.auth_time]).toEqual([claims.sub, claims.auth_time])
})

it('oidcc-prompt-login', async () => {
  const { browser, claims } = await signIn(auth, config)
  auth.world.advance(10)
  expect((await ask({ prompt: 'login' }, browser)).text).toContain('name="member"')
  const again = await signIn(auth, config, { prompt: 'login' }, browser)
  expect(again.claims.auth_time! - claims.auth_time!).toBeGreaterThanOrEqual(10)
})

it('oidcc-max-age-1', async () => {
  const { browser, claims } = await signIn(auth, config)
  auth.world.advance(2)
  expect((await ask({ max_age: '1' }, browser)).text).toContain('name="member"')
  const again = await signIn(auth, config, { max_age: '1' }, browser)
  expect(again.claims.auth_time).toBeGreaterThan(claims.auth_time!)
})

it('oidcc-max-age-10000', async () => {
  const { browser, claims } = await signIn(auth, config)
  auth.world.advance(9_000)
  const again = await signIn(auth, config, { max_age: '10000' }, browser)
  expect(again.claims.auth_time).toBe(claims.auth_time)
})

it('oidcc-id-token-hint', async () => {
  const { browser, claims, id_token } = await signIn(auth, config)
  const silent = await signIn(auth, config, { prompt: 'none', id_token_hint: id_token! }, browser)
  expect(silent.claims.sub).toBe(claims.sub)
})

it('oidcc-ensure-post-request-succeeds', async () => {
  const { url, verifier } = auth.authorizeUrl({ client, scope: everything })
  const browser = auth.newBrowser()
  const origin = { origin: 'https://app.example' }
  const posted = await browser.post(url.origin + url.pathname, Object.fromEntries(url.searchParams), origin)
  expect([posted.status, posted.location!.href]).toEqual([303, url.href])
  const back = await toApp(auth, posted.location!, browser)
  expect((await auth.exchange(client, back.searchParams.get('code')!, verifier)).json.id_token).toEqual(
    expect.any(String),
  )
})

it('oidcc-codereuse', async () => {
  const { back, verifier, access_token } = await signIn(auth, config)
  const again = await auth.exchange(client, back.searchParams.get('code')!, verifier)
  expect([again.status, again.json.error]).toEqual([400, 'invalid_grant'])
  auth.world.advance(5)
  expect((await userinfo(auth, access_token)).status).toBe(401)
})

it('oidcc-ensure-registered-redirect-uri', async () => {
  const page = await ask({ redirect_uri: `${redirectUri}/foobar` })
  expect([page.status, page.location]).toEqual([400, undefined])
})

it('oidcc-refresh-token', async () => {
  const first = await signIn(auth, config)
  const renewed = await openid.refreshTokenGrant(config, first.refresh_token!)
  const { iat: _iat, exp: _exp, at_hash, ...claims } = renewed.claims()!
  expect(claims).toEqual({
    iss: issuer,
    sub: first.claims.sub,
    aud: client,
    auth_time: first.claims.auth_time,
    nonce: first.claims.nonce,
  })
  expect(at_hash).not.toBe(first.claims.at_hash)
  expect((await userinfo(auth, renewed.access_token)).status).toBe(200)
})

it.each<[string, Record<string, string>]>([
  ['oidcc-display-page', { display: 'page' }],
  ['oidcc-display-popup', { display: 'popup' }],
  ['oidcc-ensure-other-scope-order-succeeds', { scope: 'email openid' }],
  ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
  ['oidcc-claims-locales', { claims_locales: 'se' }],
  ['oidcc-ensure-request-with-acr-values-succeeds', { acr_values: '1 2' }],
  ['oidcc-login-hint', { login_hint: 'mia@example.org' }],
  ['oidcc-ui-locales', { ui_locales: 'se de' }],
])('%s', async (_, more) => {
  expect((await signIn(auth, config, more)).claims.sub).toBe(auth.world.ids.member)
})

it.each<[string, Record<string, string | undefined>, string]>([
  ['oidcc-response-type-missing', { response_type: undefined }, 'invalid_request'],
  [
    'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    { request: 'eyJhbGciOiJub25lIn0.e30.' },
    'request_not_supported',
  ],
  ['oidcc-prompt-none-not-logged-in', { prompt: 'none' }, 'login_required'],
])('%s', async (_, more, error) => {
  const { location } = await ask(more)
  expect([location!.searchParams.get('error'), location!.searchParams.get('code')]).toEqual([error, null])
})
