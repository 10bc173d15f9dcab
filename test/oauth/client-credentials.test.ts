import type { CryptoKey } from 'jose'
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { hashOfSecret, newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { firstPartyScopes } from '../../routers/kernel/scopes.ts'
import { id } from '../support/tenant.ts'
import type { AuthWorld } from './auth-world.ts'
import { authWorld, issuer, register } from './auth-world.ts'
import { basic, signAssertion } from './client-authentication.ts'

const secret = newClientSecret()
const keys = await generateKeyPair('ES256')
const grant_type = 'client_credentials'
const scope = 'ntf.subscriptions:write ntf.events:write'

const auth = authWorld()
/** First-party clients: one with a secret, one with a key. */
let client: string
let signer: string
beforeAll(async () => {
  client = await firstParty({ secretHash: hashOfSecret(secret) })
  signer = await firstParty({ jwks: { keys: [{ ...(await exportJWK(keys.publicKey)), alg: 'ES256' }] } })
})

async function firstParty(more: object) {
  const data = { id: id('platform'), name: 'Platform', environment: 'production' as const, scopes: firstPartyScopes }
  return (await auth.world.db.client.create({ data: { ...data, ...more } })).id
}

type Fields = Record<string, string>
const asked = (): Fields => ({ grant_type, organisation: auth.world.ids.provider, scope })
const withSecret = (more: Fields = {}) => auth.token({ ...asked(), ...more }, basic(client, secret))

const assertion = (claims: object = {}, key: CryptoKey | Uint8Array = keys.privateKey, header: object = {}) =>
  signAssertion(signer, key, claims, header)

/** Subscriptions are listed over tRPC. */
const list = (token: string) =>
  auth.world.internal(
    'GET',
    `/trpc/subscriptions.list?${new URLSearchParams({ input: JSON.stringify({ app: auth.world.ids.app }) })}`,
    {
      headers: { authorization: `Bearer ${token}` },
    },
  )

describe('a first-party client', () => {
  it.each<[string, () => ReturnType<AuthWorld['token']>]>([
    ['a secret in the header', () => withSecret()],
    ['a secret in the body', () => auth.token({ ...asked(), client_id: client, client_secret: secret })],
    ['a signed assertion', async () => auth.token({ ...asked(), ...(await assertion()) })],
    ['an assertion for the issuer', async () => auth.token({ ...asked(), ...(await assertion({ aud: issuer })) })],
  ])('gets a token with %s, and calls its procedures with it', async (_, request) => {
    const { status, json, headers } = await request()
    expect({ status, json }).toEqual({
      status: 200,
      json: { access_token: expect.any(String), expires_in: 900, token_type: 'Bearer', scope },
    })
    expect(headers['cache-control']).toBe('no-store')
    const claims = decodeJwt(json.access_token)
    expect(decodeProtectedHeader(json.access_token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    expect(claims).toMatchObject({ iss: issuer, aud: 'urn:member-apps-api', organisation: auth.world.ids.provider })
    expect(claims.sub).toBe(claims.client_id)
    expect(claims).not.toHaveProperty('gid')
    expect(await list(json.access_token)).toMatchObject({ status: 200, body: { result: { data: { total: 0 } } } })
  })

  it('gets at most the scopes that are registered, and no token without any', async () => {
    // A scope of members, registered by hand.
    const scopes = ['lms.reviews:write', 'svc.me.profile:read']
    const some = await firstParty({ secretHash: hashOfSecret(secret), scopes })
    const ask = (scope: string) => auth.token({ ...asked(), scope }, basic(some, secret))
    const { json } = await ask('lms.reviews:write ntf.events:write svc.me.profile:read')
    expect([json.scope, decodeJwt(json.access_token).scope]).toEqual(['lms.reviews:write', 'lms.reviews:write'])
    for (const scope of ['ntf.events:write', 'svc.me.profile:read', 'nothing']) {
      expect(await ask(scope)).toMatchObject({ status: 400, json: { error: 'invalid_scope' } })
    }
    const { scope: _, ...without } = asked()
    expect(await auth.token(without, basic(some, secret))).toMatchObject({ json: { error: 'invalid_scope' } })
  })

  it('has the organisation of its token checked', async () => {
    const { organisation: _, ...without } = asked()
    expect(await auth.token(without, basic(client, secret))).toMatchObject({
      status: 400,
      json: { error: 'invalid_request', error_description: 'organisation is needed, once' },
    })
    for (const organisation of ['', 'nowhere', 'a\0b', 'x'.repeat(300)]) {
      expect(await withSecret({ organisation })).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    }
    const twice = `${new URLSearchParams(asked())}&organisation=${auth.world.ids.academy}`
    expect(await auth.app.post(`${issuer}/token`, twice, basic(client, secret))).toMatchObject({ status: 400 })
  })

  it('may name any organisation for the directory alone, before one is stored', async () => {
    const scope = 'directory:read directory:write'
    const { status, json } = await withSecret({ scope, organisation: 'first' })
    expect([status, json.scope]).toEqual([200, scope])
    const headers = { authorization: `Bearer ${json.access_token}` }
    const club = id('club')
    const body = { items: [{ id: club, kind: 'club', name: 'First' }] }
    const upsert = await auth.world.internal('POST', '/trpc/directory.organisations.upsert', { headers, body })
    expect(upsert.body.result.data).toEqual({ added: 1, changed: 0, unchanged: 0 })
    expect(await auth.world.db.organisation.findUnique({ where: { id: club } })).toMatchObject({ name: 'First' })
    for (const given of [
      { scope, organisation: '' },
      { scope: `${scope} lms.reviews:write`, organisation: 'first' },
    ]) {
      expect(await withSecret(given)).toMatchObject({ status: 400, json: { error: 'invalid_request' } })
    }
  })

  it('is not a member: its token opens nothing of a member', async () => {
    const { json } = await withSecret()
    for (const path of ['/', '/me/profile', '/storage/notes']) {
      const { status, body } = await auth.world.call('GET', path, { token: json.access_token })
      expect([path, status, body.error.message]).toEqual([path, 401, 'This token is not valid.'])
    }
  })

  it('cannot sign members in', async () => {
    const { url } = auth.authorizeUrl({ client, scope: 'svc.me.profile:read' })
    const page = await auth.newBrowser().open(url)
    expect([page.status, page.location]).toEqual([400, undefined])
    const refresh = await auth.token({ grant_type: 'refresh_token', refresh_token: 'x' }, basic(client, secret))
    expect(refresh).toMatchObject({ status: 400, json: { error: 'unauthorized_client' } })
  })
})

describe('no token is given', () => {
  it.each<[string, () => Promise<Fields>, (() => Fields)?, number?, string?]>([
    ['for another secret', async () => ({}), () => basic(client, newClientSecret())],
    ['for the stored hash as the secret', async () => ({}), () => basic(client, hashOfSecret(secret))],
    ['for an empty secret', async () => ({}), () => basic(client, ''), 400, 'invalid_request'],
    ['without a secret', async () => ({ client_id: client })],
    ['for the secret of another client', async () => ({}), () => basic(signer, secret)],
    [
      'for two ways at once',
      async () => ({ client_secret: secret }),
      () => basic(client, secret),
      400,
      'invalid_request',
    ],
    ['for an expired assertion', () => assertion({ exp: 1 })],
    ['for an assertion without jti', () => assertion({ jti: undefined })],
    ['for another audience', () => assertion({ aud: 'https://other.example' })],
    ['for an assertion by another key', async () => assertion({}, (await generateKeyPair('ES256')).privateKey)],
    [
      'for an assertion of another algorithm',
      async () => assertion({}, (await generateKeyPair('ES384')).privateKey, { alg: 'ES384' }),
    ],
    [
      'for an assertion signed with the public key as a secret',
      async () => {
        const secretKey = new TextEncoder().encode(JSON.stringify(await exportJWK(keys.publicKey)))
        return assertion({}, secretKey, { alg: 'HS256' })
      },
    ],
  ])('%s', async (_, fields, headers, status = 401, error = 'invalid_client') => {
    const answer = await auth.token({ ...asked(), ...(await fields()) }, headers?.())
    expect([answer.status, answer.json.error]).toEqual([status, error])
    expect(answer.json).not.toHaveProperty('access_token')
  })

  it('for an assertion that was used, also by concurrent requests', async () => {
    const fields = { ...asked(), ...(await assertion()) }
    const answers = await Promise.all(Array.from({ length: 8 }, () => auth.token(fields)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)])
    expect((await auth.token(fields)).json.error).toBe('invalid_client')
  })

  it('to the client of a team, with a description', async () => {
    const { team } = auth.world.ids
    const answer = await auth.token({ ...asked(), client_id: auth.client })
    expect([answer.status, answer.json.error]).toEqual([400, 'unauthorized_client'])
    const secretHash = hashOfSecret(secret)
    await expect(auth.world.db.client.update({ where: { id: client }, data: { teamId: team } })).rejects.toThrow()
    await expect(register(auth.world, { secretHash })).rejects.toThrow('Client_credentials_check')
  })

  it.each([[{}], [[]], ['x'], [{ keys: null }], [{ keys: [null] }], [{ keys: [{ kty: 'oct', k: 'eA' }] }]])(
    'to a first-party client whose keys are %j, and others get theirs',
    async (jwks) => {
      const broken = await firstParty({ jwks })
      const fields = await assertion({ iss: broken, sub: broken })
      const answer = await auth.token({ ...asked(), ...fields })
      expect([answer.status < 500, answer.json]).toEqual([
        true,
        { error: expect.any(String), error_description: expect.any(String) },
      ])
      expect((await withSecret()).status).toBe(200)
    },
  )

  it('to a first-party client without a secret and keys', async () => {
    const bare = await firstParty({})
    expect((await auth.token({ ...asked(), client_id: bare })).json.error).toBe('invalid_client')
    expect((await auth.token(asked(), basic(bare, 'null'))).json.error).toBe('invalid_client')
  })
})
