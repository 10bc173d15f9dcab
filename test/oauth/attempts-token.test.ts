import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Tokens } from './auth-world.ts'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'

const scope = 'svc.me.profile:read'
const other = 'https://app.example/other'

const auth = authWorld()
let client: string
let stranger: string
beforeAll(async () => {
  client = await register(auth.world, { redirectUris: [redirectUri, other] })
  stranger = await register(auth.world)
})

type Fields = Record<string, string>
const toCode = () => auth.toCode({ client, scope }, auth.world.ids.member, auth.world.ids.club)
const toTokens = (): Promise<Tokens> => auth.toTokens({ client, scope }, auth.world.ids.member, auth.world.ids.club)
const statusOf = async (token: string) => (await auth.world.call('GET', '/me/profile', { token })).status
/** A node caches access for under 5 s. */
const gone = async (token: string) => {
  auth.world.advance(5)
  expect(await statusOf(token)).toBe(401)
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
    expect(await statusOf(tokens.access_token)).toBe(200)
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
    expect(await statusOf(access_token)).toBe(200)
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
