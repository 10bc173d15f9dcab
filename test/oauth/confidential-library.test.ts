import { exportJWK, generateKeyPair } from 'jose'
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { hashOfSecret, newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { id } from '../support/tenant.ts'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'

const scope = 'svc.me.profile:read'
const secret = newClientSecret()
const keys = await generateKeyPair('ES256')

const service = authWorld()

async function withSecret() {
  const client = await register(service.world, { authentication: 'client_secret' })
  const createdAt = new Date(service.world.now() * 1000)
  const expiresAt = new Date(createdAt.getTime() + 86_400_000)
  const data = { id: id('secret'), clientId: client, hash: hashOfSecret(secret), createdAt, expiresAt }
  await service.world.db.clientSecret.create({ data })
  return client
}
async function withKey() {
  const jwks = { keys: [await exportJWK(keys.publicKey)] } as never
  return register(service.world, { authentication: 'private_key_jwt', jwks })
}

describe('openid-client, unchanged', () => {
  it.each<[string, () => Promise<string>, () => openid.ClientAuth]>([
    ['client_secret_basic', withSecret, () => openid.ClientSecretBasic(secret)],
    ['client_secret_post', withSecret, () => openid.ClientSecretPost(secret)],
    ['private_key_jwt', withKey, () => openid.PrivateKeyJwt(keys.privateKey)],
  ])('signs a member in, renews and revokes with %s', async (_, registered, authentication) => {
    const client = await registered()
    const customFetch: openid.CustomFetch = async (url, { method, headers, body }) => {
      const answer = await service.app.send(method, new URL(url), headers, body?.toString())
      return new Response(answer.text, { status: answer.status, headers: { 'content-type': 'application/json' } })
    }
    const config = await openid.discovery(new URL(issuer), client, undefined, authentication(), {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
      [openid.customFetch]: customFetch,
    })
    const verifier = openid.randomPKCECodeVerifier()
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      code_challenge_method: 'S256',
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    })
    const { member, club: organisation } = service.world.ids
    const browser = service.newBrowser()
    const page = await service.toConsent(browser, url, member)
    const back = await browser.submit(page, 'consent', { organisation, scope, decision: 'allow' })
    const { access_token, refresh_token } = await openid.authorizationCodeGrant(config, back.location!, {
      pkceCodeVerifier: verifier,
    })
    expect((await service.world.call('GET', '/me/profile', { token: access_token })).status).toBe(200)
    const renewed = await openid.refreshTokenGrant(config, refresh_token!)
    expect(renewed.scope).toBe(scope)
    await openid.tokenRevocation(config, renewed.refresh_token!)
    await expect(openid.refreshTokenGrant(config, renewed.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
  })
})
