import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { hashOfSecret, newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'
import { basic, signAssertion, storeSecret } from './client-authentication.ts'
import { deviceFlow, deviceGrant } from './device-world.ts'
import { api } from './openid-world.ts'

const scope = 'svc.me.profile:read'
const DAY_MS = 86_400_000
const keys = await generateKeyPair('ES256')
const next = await generateKeyPair('ES256')
const [secret, second] = [newClientSecret(), newClientSecret()]
const [expired, foreign] = [newClientSecret(), newClientSecret()]

const auth = authWorld()
/** A client with two valid secrets, another team's client with one, and one with keys. */
let client: string
let stranger: string
let signer: string
beforeAll(async () => {
  const withSecret = { authentication: 'client_secret' as const }
  client = await register(auth.world, withSecret)
  stranger = await register(auth.world, withSecret)
  const publicKeys = await Promise.all([keys, next].map(({ publicKey }) => exportJWK(publicKey)))
  signer = await register(auth.world, { authentication: 'private_key_jwt', jwks: { keys: publicKeys } as never })
  await store(client, secret)
  await store(client, second, 30)
  await store(client, expired, -1)
  await store(stranger, foreign)
})

const store = (clientId: string, word: string, days?: number) => storeSecret(auth.world, clientId, word, days)
type Fields = Record<string, string>
interface Sent {
  fields?: Fields
  headers?: Fields
}

const inHeader = (name: string, word: string): Sent => ({ headers: basic(name, word) })
const posted = (client_id: string, client_secret: string): Sent => ({ fields: { client_id, client_secret } })
const signed = async (claims: object = {}, key = keys.privateKey): Promise<Sent> => ({
  fields: await signAssertion(signer, key, claims),
})

const ask = ({ fields, headers }: Sent, more: Fields) => auth.token({ ...more, ...fields }, headers)
const toCode = (of: string) => auth.toCode({ client: of, scope })
const redeemed = (code: string, code_verifier: string) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier,
  redirect_uri: redirectUri,
})
const renewed = (refresh_token: string) => ({ grant_type: 'refresh_token', refresh_token })

describe('a confidential client', () => {
  it.each<[string, () => string, () => Sent | Promise<Sent>]>([
    ['its secret in the header', () => client, () => inHeader(client, secret)],
    ['its secret in the body', () => client, () => posted(client, secret)],
    ['its other valid secret', () => client, () => inHeader(client, second)],
    ['a signed assertion', () => signer, () => signed()],
    ['an assertion by its other key', () => signer, () => signed({}, next.privateKey)],
    ['an assertion for the issuer', () => signer, () => signed({ aud: issuer })],
  ])('redeems a code, renews and revokes with %s', async (_, of, proof) => {
    const { code, verifier } = await toCode(of())
    const first = await ask(await proof(), redeemed(code, verifier))
    expect([first.status, first.json.scope]).toEqual([200, scope])
    expect((await auth.world.call('GET', '/me/profile', { token: first.json.access_token })).status).toBe(200)
    // As at the authorization endpoint, scopes that it is not registered for are dropped.
    const asked = { ...renewed(first.json.refresh_token), scope: `offline_access ${scope} admin` }
    const again = await ask(await proof(), asked)
    expect([again.status, again.json.scope]).toEqual([200, scope])
    const { fields, headers } = await proof()
    const token = again.json.refresh_token
    expect((await auth.app.post(`${issuer}/revoke`, { token, ...fields }, headers)).status).toBe(200)
    expect((await ask(await proof(), renewed(token))).json.error).toBe('invalid_grant')
  })

  it('needs PKCE like others', async () => {
    const { url } = auth.authorizeUrl({ client, scope, more: { code_challenge: undefined } })
    const page = await auth.newBrowser().open(url)
    expect(page.location!.searchParams.get('error')).toBe('invalid_request')
    const { code, verifier: _ } = await toCode(client)
    const answer = await ask(inHeader(client, secret), redeemed(code, 'a'.repeat(43)))
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_grant'])
  })
})

/** The refusals of the token and the revocation endpoint. */
const refusals: [string, () => string, () => Sent | Promise<Sent>, number?, string?][] = [
  ['without a secret', () => client, () => ({ fields: { client_id: client } })],
  ['with a wrong secret in the header', () => client, () => inHeader(client, newClientSecret())],
  ['with a wrong secret in the body', () => client, () => posted(client, newClientSecret())],
  ['with an expired secret in the header', () => client, () => inHeader(client, expired)],
  ['with an expired secret in the body', () => client, () => posted(client, expired)],
  ["with another client's secret in the header", () => client, () => inHeader(client, foreign)],
  ["with another client's secret in the body", () => client, () => posted(client, foreign)],
  ['with the stored hash', () => client, () => inHeader(client, hashOfSecret(secret))],
  ['with both stored hashes', () => client, () => posted(client, `${hashOfSecret(secret)} ${hashOfSecret(second)}`)],
  ['with an empty secret in the header', () => client, () => inHeader(client, ''), 400, 'invalid_request'],
  ['with an empty secret in the body', () => client, () => posted(client, '')],
  [
    'with a secret in header and body',
    () => client,
    () => ({ ...inHeader(client, secret), ...posted(client, secret) }),
    400,
    'invalid_request',
  ],
  ['with an assertion in place of its secret', () => client, () => signed({ iss: client, sub: client })],
  ['with a secret in place of its assertion', () => signer, () => inHeader(signer, secret)],
  ['without its assertion', () => signer, () => ({ fields: { client_id: signer } })],
  ['with an assertion for another audience', () => signer, () => signed({ aud: 'https://other.example' })],
  ['with an expired assertion', () => signer, () => signed({ exp: 1 })],
  ['with an assertion that never expires', () => signer, () => signed({ exp: undefined })],
  ['with an assertion for two hours', () => signer, () => signed({ exp: Math.floor(Date.now() / 1000) + 7_200 })],
  ['with an assertion without jti', () => signer, () => signed({ jti: undefined })],
  ['with an assertion of another issuer', () => signer, () => signed({ iss: stranger })],
  [
    'with an assertion by another key',
    () => signer,
    async () => signed({}, (await generateKeyPair('ES256')).privateKey),
  ],
]

describe.each(refusals)('%s', (_, of, proof, status = 401, error = 'invalid_client') => {
  it('a code gives no tokens, and still works afterwards', async () => {
    const { code, verifier } = await toCode(of())
    const refused = await ask(await proof(), redeemed(code, verifier))
    expect([refused.status, refused.json.error]).toEqual([status, error])
    expect(Object.keys(refused.json).sort()).toEqual(['error', 'error_description'])
    expect(refused.headers['cache-control']).toBe('no-store')
    const right = of() === signer ? await signed() : inHeader(client, secret)
    expect((await ask(right, redeemed(code, verifier))).status).toBe(200)
  })

  it('a refresh token is neither renewed nor revoked', async () => {
    const right = async () => (of() === signer ? signed() : inHeader(client, secret))
    const { code, verifier } = await toCode(of())
    const { refresh_token: token } = (await ask(await right(), redeemed(code, verifier))).json
    const refused = await ask(await proof(), renewed(token))
    expect([refused.status, refused.json.error]).toEqual([status, error])
    const { fields, headers } = await proof()
    const kept = await auth.app.post(`${issuer}/revoke`, { token, ...fields }, headers)
    expect([kept.status, kept.json.error]).toEqual([status, error])
    expect((await ask(await right(), renewed(token))).status).toBe(200)
  })
})

it('an assertion works once, also for concurrent requests', async () => {
  const { code, verifier } = await toCode(signer)
  const proof = await signed()
  const first = await ask(proof, redeemed(code, verifier))
  expect(first.status).toBe(200)
  const replayed = await ask(proof, renewed(first.json.refresh_token))
  expect([replayed.status, replayed.json.error]).toEqual([401, 'invalid_client'])
  const one = await signed()
  const answers = await Promise.all(Array.from({ length: 4 }, () => ask(one, renewed(first.json.refresh_token))))
  expect(answers.map((answer) => answer.status).sort()).toEqual([200, 401, 401, 401])
})

it('a client that becomes confidential renews its earlier tokens with its secret alone', async () => {
  const own = await register(auth.world)
  const { refresh_token } = await auth.toTokens({ client: own, scope })
  await store(own, 'x'.repeat(43))
  await auth.world.db.client.update({ where: { id: own }, data: { authentication: 'client_secret' } })
  expect(await auth.refresh(own, refresh_token)).toMatchObject({ status: 401, json: { error: 'invalid_client' } })
  expect((await ask(inHeader(own, 'x'.repeat(43)), renewed(refresh_token))).status).toBe(200)
})

it.each(['client_secret', 'private_key_jwt'] as const)(
  'a client of %s without any gets no tokens',
  async (authentication) => {
    const own = await register(auth.world, { authentication })
    const { code, verifier } = await toCode(own)
    for (const proof of [
      inHeader(own, 'undefined'),
      { fields: { client_id: own } },
      await signed({ iss: own, sub: own }),
    ]) {
      const answer = await ask(proof, redeemed(code, verifier))
      expect([answer.status, answer.json.error]).toEqual([401, 'invalid_client'])
    }
  },
)

it('a public client with stored secrets stays public', async () => {
  const own = await register(auth.world)
  await store(own, newClientSecret())
  const { code, verifier } = await toCode(own)
  expect((await auth.exchange(own, code, verifier)).status).toBe(200)
})

it('the last use of a secret is stored, once in an hour', async () => {
  const own = await register(auth.world, { authentication: 'client_secret' })
  const word = newClientSecret()
  const [used, unused] = [await store(own, word), await store(own, newClientSecret())]
  const lastUse = async (id: string) =>
    (await auth.world.db.clientSecret.findUniqueOrThrow({ where: { id } })).lastUsedAt?.getTime() ?? 0
  const use = () => ask(inHeader(own, word), renewed('none'))
  await ask(inHeader(own, newClientSecret()), renewed('none'))
  const before = auth.world.now() * 1000
  await use()
  await expect.poll(() => lastUse(used)).toBeGreaterThanOrEqual(before)
  const first = await lastUse(used)
  auth.world.advance(3_500)
  await use()
  auth.world.advance(200)
  await use()
  await expect.poll(() => lastUse(used)).toBeGreaterThanOrEqual(first + 3_600_000)
  expect(await lastUse(unused)).toBe(0)
})

it('the database refuses secrets and keys that no client can have', async () => {
  const { db, ids } = auth.world
  const native = register(auth.world, { type: 'native', authentication: 'client_secret' })
  await expect(native).rejects.toThrow('Client_credentials_check')
  await expect(register(auth.world, { jwks: { keys: [] } })).rejects.toThrow('Client_credentials_check')
  const platform = db.client.update({ where: { id: ids.platform }, data: { authentication: 'client_secret' } })
  await expect(platform).rejects.toThrow('Client_credentials_check')
  const [createdAt, clientId] = [new Date(), client]
  const row = (hash: string, days: number) => ({
    data: { id: randomUUID(), clientId, hash, createdAt, expiresAt: new Date(createdAt.getTime() + days * DAY_MS) },
  })
  await expect(db.clientSecret.create(row('short', 90))).rejects.toThrow('ClientSecret_hash_check')
  for (const days of [0, -1, 366]) {
    await expect(db.clientSecret.create(row(hashOfSecret(secret), days))).rejects.toThrow('ClientSecret_life_check')
  }
})

describe('an empty secret', () => {
  let client: string
  beforeAll(async () => {
    client = await register(auth.world, { devices: true })
  })

  const withId = (id: string, secret = '') => basic(id, secret)
  const requestTokens = (of = client) => auth.toTokens({ client: of, scope: api })

  describe('a public client that sends its id in the header, with an empty secret', () => {
    it('gets tokens for a code, renews and revokes them', async () => {
      const { code, verifier } = await auth.toCode({ client, scope: api })
      const fields = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }
      const first = await auth.token(fields, withId(client))
      expect([first.status, first.json]).toEqual([200, expect.objectContaining({ scope: api })])
      const renewal = { grant_type: 'refresh_token', refresh_token: first.json.refresh_token }
      for (const more of [{}, { client_id: client }, { client_id: '' }] as Record<string, string>[]) {
        expect((await auth.token({ ...renewal, ...more }, withId(client))).status).toBe(200)
      }
      const chunked = { ...withId(client), 'transfer-encoding': 'chunked' }
      expect((await auth.token(renewal, chunked)).json).toMatchObject({ scope: api })
      expect((await auth.token({}, chunked)).json.error).toBe('invalid_request')
      const revoked = await auth.app.post(`${issuer}/revoke`, { token: first.json.refresh_token }, withId(client))
      expect(revoked.status).toBe(200)
      expect((await auth.token(renewal, withId(client))).json.error).toBe('invalid_grant')
    })

    it('signs in on a device', async () => {
      const device = deviceFlow(auth)
      const begun = await device.authorize({ scope: api }, withId(client))
      expect(begun.status).toBe(200)
      await device.allow(begun.json.user_code, api, auth.world.ids.member, auth.world.ids.club)
      const fields = { grant_type: deviceGrant, device_code: begun.json.device_code }
      expect((await auth.token(fields, withId(client))).status).toBe(200)
    })

    it('is refused beside the id of another client, and as an unknown one; its tokens stay', async () => {
      const other = await register(auth.world)
      const { refresh_token } = await requestTokens()
      const renewal = { grant_type: 'refresh_token', refresh_token }
      for (const [more, headers] of [
        [{ client_id: other }, withId(client)],
        [{ client_id: client }, withId(other)],
        [{}, withId('nobody')],
        [{}, withId(other)],
        [{}, { authorization: `Basic ${Buffer.from(client).toString('base64')}` }],
        [{}, withId(client, 'secret')],
      ] as const) {
        const answer = await auth.token({ ...renewal, ...more }, headers)
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(answer.status).toBeLessThan(500)
      }
      expect((await auth.refresh(client, refresh_token)).status).toBe(200)
    })
  })

  it('a client with a secret is refused with an empty one', async () => {
    const confidential = await register(auth.world, { authentication: 'client_secret' })
    const answer = await auth.token({ grant_type: 'client_credentials', organisation: 'x' }, withId(confidential))
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request'])
  })
})
