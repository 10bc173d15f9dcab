import { randomUUID } from 'node:crypto'
import { decodeProtectedHeader, importJWK, SignJWT } from 'jose'
import * as oauth from 'oauth4webapi'
import type * as openid from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  deleteRetiredKeys,
  insertFirstKeys,
  readKeys,
  revokeKey,
  rotateOldKeys,
} from '../../server/oauth/keys/signing-key-store.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { ownTenant } from '../support/own-tenant.ts'
import type { AuthWorld } from './auth-world.ts'
import { issuer, redirectUri, startAuthWorld } from './auth-world.ts'
import { createMember } from './members.ts'
import { byPort, discover, everything, registerOpenid, signIn, toApp, userinfo } from './openid-world.ts'

/** A database of their own: its installation is new. */
let here: AuthWorld
let there: AuthWorld
let client: string
let config: openid.Configuration
const ends: (() => Promise<void>)[] = []
beforeAll(async () => {
  const own = await ownTenant((end) => ends.push(end))
  here = await startAuthWorld(own)
  there = await startAuthWorld(own)
  client = await registerOpenid(here)
  config = await discover(here, client)
})
afterAll(async () => {
  await Promise.all([here, there].map(({ world }) => world.close()))
  for (const end of ends) await end()
})

const parts = () => {
  const { db, secretsKeys, core } = here.world
  return { db, cipher: createCipher(secretsKeys), now: core.now }
}
const rsaKeys = async () => (await readKeys(parts())).filter(({ kind }) => kind === 'RS256')
const reload = () => Promise.all([here, there].map(({ world }) => world.oauth!.reload()))
const advance = (seconds: number) => {
  for (const { world } of [here, there]) world.advance(seconds)
}
const choose = (idTokenAlgorithm: 'ES256' | 'RS256') =>
  here.world.db.client.update({ where: { id: client }, data: { idTokenAlgorithm } })
const published = async ({ app }: AuthWorld): Promise<[string, string][]> =>
  (await app.get(`${issuer}/jwks`)).json.keys.map(({ alg, kid }: Record<string, string>) => [alg, kid])
const readHeader = (token: string) => decodeProtectedHeader(token)

describe('a new installation', () => {
  it('has a key of both algorithms, and the first client with RS256 gets it at once', async () => {
    const keys = (await readKeys(parts())).filter(({ kind }) => kind !== 'card')
    expect(keys.map(({ kind }) => kind)).toEqual(['ES256', 'RS256'])
    for (const node of [here, there]) expect(await published(node)).toEqual(keys.map(({ kind, kid }) => [kind, kid]))
    await choose('RS256')
    const { id_token, access_token } = await signIn(here, config)
    expect(readHeader(id_token!)).toEqual({ alg: 'RS256', kid: keys[1]!.kid })
    expect(readHeader(access_token).alg).toBe('ES256')
  })
})

describe('the key for RS256 of an installation that had none', () => {
  it('is made once, and signs two minutes after it was published: until then ES256 does', async () => {
    await here.world.db.rsaSigningKey.deleteMany({ where: {} })
    await Promise.all([reload(), insertFirstKeys(parts(), ['RS256'])])
    await reload()
    config = await discover(here, client)
    const [key, ...others] = await rsaKeys()
    expect(others).toEqual([])
    for (const node of [here, there]) expect(await published(node)).toContainEqual(['RS256', key!.kid])
    expect(readHeader((await signIn(here, config)).id_token!).alg).toBe('ES256')
    advance(121)
    expect(readHeader((await signIn(here, config)).id_token!)).toEqual({ alg: 'RS256', kid: key!.kid })
  })

  it('has published no private part of it', async () => {
    const { json } = await here.app.get(`${issuer}/jwks`)
    const rsa = json.keys.find(({ alg }: { alg: string }) => alg === 'RS256')
    expect(Object.keys(rsa).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
    expect(Buffer.from(rsa.n, 'base64url')).toHaveLength(256)
  })
})

describe('a client with RS256', () => {
  it('signs in with oauth4webapi, unchanged, on the other node', async () => {
    const options = byPort(there)
    const at = new URL(issuer)
    const server = await oauth.processDiscoveryResponse(at, await oauth.discoveryRequest(at, options))
    expect(server.id_token_signing_alg_values_supported).toEqual(['ES256', 'RS256'])
    const own: oauth.Client = { client_id: client, id_token_signed_response_alg: 'RS256' }
    const { url, verifier } = there.authorizeUrl({ client, scope: everything, more: { state: undefined } })
    const back = await toApp(there, url, there.newBrowser())
    const parameters = oauth.validateAuthResponse(server, own, back, oauth.expectNoState)
    const code = oauth.authorizationCodeGrantRequest
    const answer = await code(server, own, oauth.None(), parameters, redirectUri, verifier, options)
    const tokens = await oauth.processAuthorizationCodeResponse(server, own, answer, { requireIdToken: true })
    await oauth.validateApplicationLevelSignature(server, answer, options)
    expect(readHeader(tokens.id_token!).alg).toBe('RS256')
  })

  it('is asked for nothing with its ID token as a hint, also once it has chosen the other algorithm', async () => {
    const { browser, claims, id_token } = await signIn(here, config)
    const silent = { prompt: 'none', id_token_hint: id_token! }
    expect((await signIn(here, config, silent, browser)).claims.sub).toBe(claims.sub)
    await choose('ES256')
    const { url } = here.authorizeUrl({ client, scope: everything, more: silent })
    expect((await browser.open(url)).location!.searchParams.get('code')).toEqual(expect.any(String))
    const stranger = await createMember(here.world.db, { email: '' })
    const other = here.newBrowser()
    await here.toConsent(other, here.authorizeUrl({ client, scope: everything }).url, stranger)
    expect((await other.open(url)).location!.searchParams.get('error')).toBe('login_required')
    expect(readHeader((await signIn(here, config)).id_token!).alg).toBe('ES256')
    await choose('RS256')
  })
})

describe('a key for RS256', () => {
  it('is never one of access tokens: neither its tokens nor ID tokens open an API', async () => {
    const { access_token, id_token } = await signIn(here, config)
    expect((await userinfo(here, access_token)).status).toBe(200)
    const [key] = await rsaKeys()
    const { jwk, kid } = key!
    const payload = JSON.parse(Buffer.from(access_token.split('.')[1]!, 'base64url').toString())
    const rsa = await importJWK(jwk!, 'RS256')
    const forge = (header: object) =>
      new SignJWT({ ...payload, jti: randomUUID() }).setProtectedHeader({ alg: 'RS256', ...header }).sign(rsa)
    const { kid: other } = readHeader(access_token)
    const forged = [{ kid }, { kid: other! }, {}].map((header) => forge({ typ: 'at+jwt', ...header }))
    // The public key as a shared secret.
    const published = (await here.app.get(`${issuer}/jwks`)).json.keys.find(
      ({ alg }: { alg: string }) => alg === 'RS256',
    )
    const shared = new SignJWT(payload)
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid })
      .sign(Buffer.from(published.n, 'base64url'))
    for (const token of [...(await Promise.all(forged)), await shared, id_token!]) {
      for (const { world } of [here, there]) {
        expect((await world.call('GET', '/me/profile', { token })).status).toBe(401)
      }
      expect((await userinfo(here, token)).status).toBe(401)
    }
  })

  it('has one successor after 90 days, and ends 20 minutes after that has begun to sign', async () => {
    const store = (days: number) => ({ ...parts(), now: () => here.world.core.now() + days * 86_400_000 })
    const [before] = await rsaKeys()
    await rotateOldKeys(store(89), 90)
    expect(await rsaKeys()).toHaveLength(1)
    await Promise.all(Array.from({ length: 3 }, () => rotateOldKeys(store(91), 90)))
    const [next, ...others] = await rsaKeys()
    expect(others.map(({ kid }) => kid)).toEqual([before!.kid])
    expect(next!.signsFrom.getTime() - store(91).now()).toBeGreaterThan(60_000)
    // The retired keys of ES256 go as well.
    expect(await deleteRetiredKeys(store(92))).toBe(2)
    expect((await rsaKeys()).map(({ kid }) => kid)).toEqual([next!.kid])
  })

  it('that is revoked is replaced at once, and access tokens stay valid', async () => {
    advance(92 * 86_400)
    await reload()
    const fresh = await discover(here, client)
    const { access_token, id_token } = await signIn(here, fresh)
    const { kid } = readHeader(id_token!)
    expect(await revokeKey(parts(), kid!)).toBe(true)
    expect(await revokeKey(parts(), kid!)).toBe(false)
    await reload()
    for (const node of [here, there]) {
      const keys = await published(node)
      expect(keys.map(([alg]) => alg)).toEqual(['ES256', 'RS256'])
      expect(keys.map(([, id]) => id)).not.toContain(kid)
    }
    expect((await userinfo(here, access_token)).status).toBe(200)
    const again = await signIn(here, await discover(here, client))
    expect(readHeader(again.id_token!)).toMatchObject({ alg: 'RS256', kid: expect.not.stringMatching(kid!) })
  })

  it('that no SECRETS_KEY decrypts leaves its clients with ES256 until there is another', async () => {
    await here.world.db.rsaSigningKey.updateMany({ where: { kid: { not: '' } }, data: { ciphertext: 'lost' } })
    await reload()
    const fresh = await discover(here, client)
    expect(readHeader((await signIn(here, fresh)).id_token!).alg).toBe('ES256')
    advance(121)
    expect(readHeader((await signIn(here, fresh)).id_token!).alg).toBe('RS256')
  })
})
