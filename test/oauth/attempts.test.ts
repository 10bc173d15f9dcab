import { createHash } from 'node:crypto'
import fc from 'fast-check'
import type { JWTPayload } from 'jose'
import { decodeJwt, importJWK, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { readKeys } from '../../server/oauth/keys/signing-key-store.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { seed } from '../support/chance.ts'
import { times } from '../support/rounds.ts'
import { id } from '../support/tenant.ts'
import type { Tokens } from './auth-world.ts'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'
import { api } from './openid-world.ts'

const scope = 'svc.me.profile:read'

const auth = authWorld()
let web: string
let loopback: string
let native: string
beforeAll(async () => {
  web = auth.client
  loopback = await register(auth.world, { redirectUris: ['http://127.0.0.1:4000/cb'] })
  native = await register(auth.world, {
    type: 'native',
    redirectUris: ['http://127.0.0.1/cb', 'com.example.app:/cb'],
  })
})

/** The numbers of interactions, codes, refresh tokens and consents: an attempt must not change them. */
const issued = async () => {
  const clients = [web, loopback, native, auth.world.ids.client]
  const ofClients = clients.flatMap((client) =>
    [['clientId'], ['params', 'client_id']].map((path) => ({ payload: { path, equals: client } })),
  )
  return {
    records: await auth.world.db.oauthRecord.count({ where: { OR: ofClients } }),
    consents: await auth.world.db.consent.count({ where: { clientId: { in: clients } } }),
  }
}

const withFirst = (url: URL, name: string, value: string) =>
  `${url.origin}${url.pathname}?${new URLSearchParams({ [name]: value })}&${url.searchParams}`

describe('an authorization request', () => {
  type More = Record<string, string | undefined>
  const ask = (more: More) => {
    const { url } = auth.authorizeUrl({ client: web, scope, more })
    return auth.newBrowser().get(url)
  }

  it.each<[string, () => More]>([
    ['of an unknown client', () => ({ client_id: 'nobody' })],
    ['of no client', () => ({ client_id: undefined })],
    ['of a client without redirect URIs', () => ({ client_id: auth.world.ids.client })],
    ['of a client with a NUL', () => ({ client_id: `${web}\0` })],
    ['without a redirect URI', () => ({ redirect_uri: undefined })],
    ['with another redirect URI', () => ({ redirect_uri: 'https://evil.example/callback' })],
    [
      'with a host that has the registered one as its prefix',
      () => ({ redirect_uri: 'https://app.example.evil.example/callback' }),
    ],
    ['with a path below', () => ({ redirect_uri: `${redirectUri}/more` })],
    ['with a fragment', () => ({ redirect_uri: `${redirectUri}#code` })],
    ['without TLS', () => ({ redirect_uri: 'http://app.example/callback' })],
    ['with a relative URI', () => ({ redirect_uri: '//evil.example' })],
    [
      'of a web app with another port of this machine',
      () => ({ client_id: loopback, redirect_uri: 'http://127.0.0.1:5000/cb' }),
    ],
    [
      'of a native app with another path of this machine',
      () => ({ client_id: native, redirect_uri: 'http://127.0.0.1:5000/other' }),
    ],
    [
      'of a native app with a name of this machine',
      () => ({ client_id: native, redirect_uri: 'http://localhost:5000/cb' }),
    ],
    ['of a native app with another scheme', () => ({ client_id: native, redirect_uri: 'com.evil.app:/cb' })],
  ])('%s shows the member an error page and never redirects', async (_, more) => {
    const before = await issued()
    const page = await ask(more())
    expect([page.status, page.location]).toEqual([400, undefined])
    expect(page.headers['content-type']).toMatch(/^text\/html/)
    expect(page.headers['set-cookie']).toBeUndefined()
    expect(page.text).not.toMatch(/<script|evil\.example/)
    expect(await issued()).toEqual(before)
  })

  it.each<[string, More, string]>([
    ['for an access token', { response_type: 'token' }, 'unsupported_response_type'],
    ['for an ID token', { response_type: 'id_token', nonce: 'n' }, 'unsupported_response_type'],
    ['for a code and a token', { response_type: 'code token' }, 'unsupported_response_type'],
    ['for nothing', { response_type: undefined }, 'invalid_request'],
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['with a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['with a challenge without a method', { code_challenge_method: undefined }, 'invalid_request'],
    ['with response mode fragment', { response_mode: 'fragment' }, 'unsupported_response_mode'],
    ['with response mode form_post', { response_mode: 'form_post' }, 'unsupported_response_mode'],
    ['with response mode jwt', { response_mode: 'jwt' }, 'unsupported_response_mode'],
    ['with response mode query.jwt', { response_mode: 'query.jwt' }, 'unsupported_response_mode'],
    ['with response mode web_message', { response_mode: 'web_message' }, 'unsupported_response_mode'],
    ['for a token in the fragment', { response_type: 'token', response_mode: 'fragment' }, 'unsupported_response_mode'],
    ['with a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    ['with a request URI', { request_uri: 'https://evil.example/request' }, 'request_uri_not_supported'],
    [
      'with a request object that names another redirect URI',
      { request: 'eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmkiOiJodHRwczovL2V2aWwuZXhhbXBsZSJ9.' },
      'request_not_supported',
    ],
    ['with a request object and a request URI', { request: 'e30.e30.', request_uri: 'urn:x' }, 'request_not_supported'],
    ['with a pushed request', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'request_uri_not_supported'],
    ['with a registration', { registration: '{}' }, 'registration_not_supported'],
    ['for another API', { resource: 'https://other.example' }, 'invalid_target'],
    ['for no scope', { scope: undefined }, 'invalid_scope'],
    ['for an unknown scope', { scope: 'admin' }, 'invalid_scope'],
    ['with prompt=none and no session', { prompt: 'none' }, 'login_required'],
    ['with a NUL in its state', { state: 'a\0b' }, 'invalid_request'],
  ])('%s redirects back with an error and the issuer in the query', async (_, more, error) => {
    const before = await issued()
    const { status, location, headers } = await ask(more)
    expect(status).toBe(303)
    const said = location!.searchParams
    expect([`${location!.origin}${location!.pathname}`, location!.hash]).toEqual([redirectUri, ''])
    // RFC 9207: an app that uses two servers knows which one responded.
    expect([said.get('error'), said.get('iss')]).toEqual([error, issuer])
    expect(said.get('code')).toBeNull()
    expect(headers['set-cookie']).toBeUndefined()
    expect(await issued()).toEqual(before)
  })

  it.each([
    ['client_id', 'nobody', []],
    ['redirect_uri', 'https://evil.example/', []],
    ['response_type', 'token', ['invalid_request', 'unsupported_response_type']],
    ['response_mode', 'fragment', ['invalid_request', 'unsupported_response_mode']],
    ['scope', 'openid', ['invalid_request']],
  ])('with %s twice is refused, and goes nowhere but to the registered address', async (name, value, possible) => {
    const before = await issued()
    const { url } = auth.authorizeUrl({ client: web, scope, more: { response_mode: 'query' } })
    const errors = new Set<string>()
    for (const order of [`${url}&${new URLSearchParams({ [name]: value })}`, withFirst(url, name, value)]) {
      const { status, location } = await auth.newBrowser().get(order)
      const to = location && `${location.origin}${location.pathname}`
      expect([status, to]).toEqual(possible.length > 0 ? [303, redirectUri] : [400, undefined])
      if (location) errors.add(location.searchParams.get('error')!)
    }
    expect([...errors].sort()).toEqual(possible)
    expect(await issued()).toEqual(before)
  })

  it('redirects a native app to any port of this machine', async () => {
    const asked = { client: native, scope, redirectUri: 'http://127.0.0.1:51234/cb' }
    const { back, browser } = await auth.toCode(asked)
    expect(back.origin).toBe('http://127.0.0.1:51234')
    expect(back.searchParams.get('iss')).toBe(issuer)
    // Next time another program may listen on that port, so the member is asked each time.
    const again = await browser.open(auth.authorizeUrl(asked).url)
    expect(again.text).toContain('name="decision"')
  })

  it('asks only for scopes that the client has registered and its team’s level allows', async () => {
    const { world } = auth
    const few = await register(world, { scopes: ['svc.me.profile:read', 'lms.me.quizzes:write'] })
    const wanted = 'svc.me.profile:read svc.me.groups:read lms.me.quizzes:write admin offline_access openid'
    const shown = async (client: string) => {
      const { url } = auth.authorizeUrl({ client, scope: wanted })
      const { text } = await auth.toConsent(auth.newBrowser(), url, world.ids.member)
      return [...text.matchAll(/name="scope" value="([^"]+)"/g)].map(([, scope]) => scope)
    }
    expect(await shown(few)).toEqual(['svc.me.profile:read', 'lms.me.quizzes:write'])
    await world.db.team.update({ where: { id: world.ids.team }, data: { level: 'hobby' } })
    expect(await shown(few)).toEqual(['svc.me.profile:read'])
    const { url } = auth.authorizeUrl({ client: few, scope: 'lms.me.quizzes:write' })
    expect((await auth.newBrowser().get(url)).location!.searchParams.get('error')).toBe('invalid_scope')
    await world.db.team.update({ where: { id: world.ids.team }, data: { level: 'developer' } })
  })
})

const other = 'https://app.example/other'
let client: string
let stranger: string
beforeAll(async () => {
  client = await register(auth.world, { redirectUris: [redirectUri, other] })
  stranger = await register(auth.world)
})

type Fields = Record<string, string>
const toCode = () => auth.toCode({ client, scope })
const toTokens = (): Promise<Tokens> => auth.toTokens({ client, scope })
/** A node caches access for under 5 s. */
const gone = async (token: string) => {
  auth.world.advance(5)
  expect(await auth.profileStatus(token)).toBe(401)
}
/** The number of this client's refresh tokens. */
const renewable = () =>
  auth.world.db.oauthRecord.count({
    where: { model: 'RefreshToken', payload: { path: ['clientId'], equals: client } },
  })

describe('an authorization code', () => {
  it.each<[string, (own: Fields) => Fields, string]>([
    ['without its verifier', ({ code_verifier: _, ...rest }) => rest, 'invalid_grant'],
    ['with another verifier', (own) => ({ ...own, code_verifier: 'a'.repeat(43) }), 'invalid_grant'],
    ['with the challenge as its verifier', (own) => ({ ...own, code_verifier: own.challenge! }), 'invalid_grant'],
    ['by another client', (own) => ({ ...own, client_id: stranger }), 'invalid_grant'],
    ['without a client', ({ client_id: _, ...rest }) => rest, 'invalid_request'],
    ['for another redirect URI of its client', (own) => ({ ...own, redirect_uri: other }), 'invalid_grant'],
    ['without a redirect URI', ({ redirect_uri: _, ...rest }) => rest, 'invalid_request'],
    ['for another API', (own) => ({ ...own, resource: 'https://other.example' }), 'invalid_target'],
    [
      'as a refresh token',
      (own) => ({ ...own, grant_type: 'refresh_token', refresh_token: own.code! }),
      'invalid_grant',
    ],
    ['with a NUL', (own) => ({ ...own, code: `${own.code}\0` }), 'invalid_grant'],
  ])('redeemed %s gets no tokens', async (_, changed, error) => {
    const { code, verifier } = await toCode()
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const own = {
      grant_type: 'authorization_code',
      client_id: client,
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
      challenge,
    }
    const before = await renewable()
    const { challenge: _challenge, ...fields } = changed(own) as Fields
    const answer = await auth.token(fields)
    expect([answer.status, answer.json.error]).toEqual([400, error])
    expect(answer.headers['cache-control']).toBe('no-store')
    expect(Object.keys(answer.json).sort()).toEqual(['error', 'error_description'])
    expect(await renewable()).toBe(before)
  })

  it('redeemed twice revokes the tokens of the first time', async () => {
    const { code, verifier } = await toCode()
    const first = await auth.exchange(client, code, verifier)
    expect(first.headers['cache-control']).toBe('no-store')
    const tokens: Tokens = first.json
    expect(await auth.profileStatus(tokens.access_token)).toBe(200)
    const again = await auth.exchange(client, code, verifier)
    expect([again.status, again.json.error]).toEqual([400, 'invalid_grant'])
    expect((await auth.refresh(client, tokens.refresh_token)).json.error).toBe('invalid_grant')
    await gone(tokens.access_token)
  })

  it('expires after a minute', async () => {
    const { code, verifier } = await toCode()
    auth.world.advance(61)
    const late = await auth.exchange(client, code, verifier)
    auth.world.advance(-61)
    expect([late.status, late.json.error]).toEqual([400, 'invalid_grant'])
  })
})

describe('a refresh token', () => {
  it.each<[string, () => Fields, string]>([
    ['of another client', () => ({ client_id: stranger }), 'invalid_grant'],
    ['with a NUL', () => ({ refresh_token: 'a\0b' }), 'invalid_grant'],
    ['for more scopes', () => ({ scope: 'svc.me.profile:read svc.me.groups:read' }), 'invalid_scope'],
    ['for more scopes and an unknown one', () => ({ scope: 'svc.me.groups:read admin' }), 'invalid_scope'],
    ['for unknown scopes alone', () => ({ scope: 'offline_access admin' }), 'invalid_scope'],
    ['for another API', () => ({ resource: 'https://other.example' }), 'invalid_target'],
    [
      'with grant type password',
      () => ({ grant_type: 'password', username: 'a', password: 'b' }),
      'unsupported_grant_type',
    ],
    ['with grant type client_credentials', () => ({ grant_type: 'client_credentials' }), 'unauthorized_client'],
  ])('%s gets no tokens, and still works afterwards', async (_, more, error) => {
    const { refresh_token } = await toTokens()
    const answer = await auth.token({ grant_type: 'refresh_token', client_id: client, refresh_token, ...more() })
    expect([answer.status, answer.json.error]).toEqual([400, error])
    expect((await auth.refresh(client, refresh_token)).status).toBe(200)
  })

  it('cannot be revoked by another client', async () => {
    const { refresh_token, access_token } = await toTokens()
    const answer = await auth.app.post(`${issuer}/revoke`, { client_id: stranger, token: refresh_token })
    expect(answer.status).toBe(200)
    expect(await auth.profileStatus(access_token)).toBe(200)
    expect((await auth.refresh(client, refresh_token)).status).toBe(200)
  })
})

describe('a token request', () => {
  it.each<[string, string | Fields, Fields, number]>([
    ['as JSON', '{"grant_type":"refresh_token"}', { 'content-type': 'application/json' }, 400],
    ['with a parameter twice', 'grant_type=refresh_token&client_id=a&client_id=b&refresh_token=x', {}, 400],
    ['with a secret', { grant_type: 'refresh_token', client_id: 'c', client_secret: 's', refresh_token: 'x' }, {}, 401],
    ['with a password', { grant_type: 'refresh_token' }, { authorization: 'Basic YTpi' }, 401],
    ['of an unknown client', { grant_type: 'refresh_token', client_id: 'nobody', refresh_token: 'x' }, {}, 401],
    ['that accepts HTML', { grant_type: 'refresh_token' }, { accept: 'text/html' }, 400],
    ['without a body', '', {}, 400],
  ])('%s returns an error in the form of RFC 6749', async (_, body, headers, status) => {
    const answer = await auth.app.post(`${issuer}/token`, body, headers)
    expect(answer.status).toBe(status)
    expect(answer.json).toEqual({
      error: expect.stringMatching(/^invalid_(?:request|client)$/),
      error_description: expect.any(String),
    })
  })
})

describe('an access token', () => {
  const development = 'urn:member-apps-api:development'
  let token: string
  let claims: JWTPayload
  let sign: (claims: JWTPayload, header?: object) => Promise<string>
  let other: { member: string; club: string; client: string }
  beforeAll(async () => {
    const { db, ids, secretsKeys } = auth.world
    token = (await auth.toTokens({ client: auth.client, scope })).access_token
    claims = decodeJwt(token)
    const key = (await readKeys({ db, cipher: createCipher(secretsKeys) })).find(({ jwk }) => jwk)!
    const own = await importJWK(key.jwk!, 'ES256')
    sign = (payload, header = {}) =>
      new SignJWT(payload).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid, ...header }).sign(own)
    other = { member: id('other'), club: id('other'), client: await register(auth.world) }
    await db.person.create({ data: { id: other.member, firstName: 'O', lastName: 'P', email: 'o@example.org' } })
    await db.organisation.create({ data: { id: other.club, kind: 'club', name: 'Other' } })
    await db.membership.createMany({
      data: [other.club, ids.club].map((organisationId) => ({ organisationId, personId: other.member })),
    })
    await db.membership.create({ data: { organisationId: other.club, personId: ids.member } })
  })

  const answerTo = (given: string) => auth.world.call('GET', '/me/profile', { token: given })

  it('of the authorization server is accepted beside one of the development key', async () => {
    expect((await answerTo(token)).status).toBe(200)
    expect((await answerTo(await sign(claims))).status).toBe(200)
    expect((await answerTo(await auth.world.token())).status).toBe(200)
  })

  it.each<[string, () => Promise<string>]>([
    ['of the development key in the name of the authorization server', () => auth.world.token({ ...claims })],
    ['of the authorization server in the name of the development key', () => sign({ ...claims, iss: development })],
    ['of an unknown issuer', () => sign({ ...claims, iss: 'https://evil.example' })],
    ['for another API', () => sign({ ...claims, aud: 'https://other.example' })],
    ['without a consent', () => sign({ ...claims, gid: undefined })],
    ['of an unknown consent', () => sign({ ...claims, gid: 'unknown' })],
    ['of a consent with a NUL', () => sign({ ...claims, gid: 'a\0b' })],
    ['of a consent that is not a string', () => sign({ ...claims, gid: [claims.gid] })],
    ['of another member with this consent', () => sign({ ...claims, sub: other.member })],
    ['for another club with this consent', () => sign({ ...claims, organisation: other.club })],
    ['of another client with this consent', () => sign({ ...claims, client_id: other.client })],
  ])('%s returns 401', async (_, forged) => {
    const { status, body } = await answerTo(await forged())
    expect([status, body.error.code]).toEqual([401, 'invalid_token'])
  })
})

const hosts = ['127.0.0.1', '[::1]', 'localhost']

const pageFor = (client: string, redirectUri: string) =>
  auth.newBrowser().open(auth.authorizeUrl({ client, scope: api, redirectUri }).url)
const isAccepted = async (client: string, uri: string) => (await pageFor(client, uri)).text.includes('name="member"')
const logout = (client: string, uri: string) =>
  auth
    .newBrowser()
    .get(`${issuer}/end-session?${new URLSearchParams({ client_id: client, post_logout_redirect_uri: uri })}`)

describe.each(hosts)('a native client with a redirect to %s', (host) => {
  it.each(['', ':8400'])('gets tokens at any port when it is registered with the port %j', async (port) => {
    const uri = `http://${host}${port}/cb`
    const client = await register(auth.world, { type: 'native', redirectUris: [uri] })
    for (const asked of [uri, `http://${host}:51234/cb`, `http://${host}:1/cb`]) {
      const tokens = await auth.toTokens({ client, scope: api, redirectUri: asked })
      expect(tokens.scope).toBe(api)
    }
  })

  it('returns to any port after a sign-out, and to no other path or host', async () => {
    const client = await register(auth.world, {
      type: 'native',
      redirectUris: [`http://${host}/cb`],
      postLogoutRedirectUris: [`http://${host}/bye`],
    })
    for (const port of ['', ':51234']) {
      expect((await logout(client, `http://${host}${port}/bye`)).location?.href).toBe(`http://${host}${port}/bye`)
    }
    for (const wrong of [
      '/',
      '/bye/x',
      ':1.example/bye',
      ':51234',
      ':99999999/bye',
      ':99999/bye',
      ':x@evil.example/bye',
    ]) {
      expect((await logout(client, `http://${host}${wrong}`)).status).toBe(400)
    }
  })
})

it('a web client has the port that it has registered', async () => {
  const uri = 'http://127.0.0.1:5173/cb'
  const client = await register(auth.world, { redirectUris: [uri], postLogoutRedirectUris: [uri] })
  expect(await isAccepted(client, uri)).toBe(true)
  expect(await isAccepted(client, 'http://127.0.0.1:5174/cb')).toBe(false)
  expect((await logout(client, uri)).status).toBe(303)
  expect((await logout(client, 'http://127.0.0.1:5174/cb')).status).toBe(400)
})

it('only the port of a native client may differ', async () => {
  const client = await register(auth.world, { type: 'native', redirectUris: hosts.map((host) => `http://${host}/cb`) })
  const address = fc.tuple(
    fc.constantFrom('http', 'https', 'ftp'),
    fc.constantFrom(...hosts, 'a.localhost', '127.0.0.2', 'localhost.example', '0.0.0.0'),
    fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined }),
    fc.constantFrom('/cb', '/cb/', '/', '/cb?x=1', '/CB'),
  )
  await fc.assert(
    fc.asyncProperty(address, async ([scheme, host, port, path]) => {
      auth.world.advance(1)
      const expected = scheme === 'http' && hosts.includes(host) && path === '/cb'
      const uri = `${scheme}://${host}${port === undefined ? '' : `:${port}`}${path}`
      expect([uri, await isAccepted(client, uri)]).toEqual([uri, expected])
    }),
    { numRuns: times(300, 40), seed },
  )
})
