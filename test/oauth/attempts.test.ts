import { beforeAll, describe, expect, it } from 'vitest'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'

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
    const { back, browser } = await auth.toCode(asked, auth.world.ids.member, auth.world.ids.club)
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
