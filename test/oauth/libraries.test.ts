import { exportJWK, generateKeyPair } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { beforeAll, describe, expect, it } from 'vitest'
import { newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'
import { storeSecret } from './client-authentication.ts'
import { byPort, everything, fetchByPort, registerOpenid, toApp } from './openid-world.ts'

const scope = 'svc.me.profile:read'

const service = authWorld()
/** By OAuth metadata, without OpenID Connect. */
const discoverOauth = (client: string, authentication: openid.ClientAuth) =>
  openid.discovery(new URL(issuer), client, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
    [openid.customFetch]: fetchByPort(service),
  })

let config: openid.Configuration
beforeAll(async () => {
  config = await discoverOauth(service.client, openid.None())
})

/** What a library asks for by default, with these parameters; signs the member in and allows what the page asks for. */
async function ask(more: Record<string, string>, browser = service.newBrowser()) {
  const { ids } = service.world
  const [verifier, state] = [openid.randomPKCECodeVerifier(), openid.randomState()]
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    ...more,
  })
  let page = await service.toConsent(browser, url, ids.member)
  const asked = page.text.includes('name="decision"')
  if (asked) page = await browser.submit(page, 'consent', { organisation: ids.club, scope, decision: 'allow' })
  // A second consent page would have no location.
  expect(page.location?.href).toContain(redirectUri)
  const tokens = () =>
    openid.authorizationCodeGrant(config, page.location!, { pkceCodeVerifier: verifier, expectedState: state })
  return { asked, page, tokens, browser }
}

describe('an app whose library asks for OpenID Connect', () => {
  it.each<[string, Record<string, string>]>([
    ['openid profile email', { scope: `openid profile email ${scope}` }],
    ['openid with a nonce', { scope: `openid ${scope}`, nonce: 'the-nonce' }],
    ['openid with max_age and acr_values', { scope: `openid ${scope}`, max_age: '0', acr_values: '1' }],
    ['offline_access with consent', { scope: `openid offline_access ${scope}`, prompt: 'consent' }],
    ['a sign-in each time', { scope: `openid ${scope}`, prompt: 'login' }],
    ['a sign-in and consent each time', { scope: `openid ${scope}`, prompt: 'login consent' }],
  ])('asks for %s: gets tokens after one consent page, without an ID token', async (_, more) => {
    const { tokens } = await ask(more)
    const { access_token, refresh_token, id_token, scope: granted } = await tokens()
    expect([granted, id_token]).toEqual([scope, undefined])
    expect(await service.profileStatus(access_token)).toBe(200)
    const renewed = await openid.refreshTokenGrant(config, refresh_token!)
    expect([renewed.scope, renewed.id_token]).toEqual([scope, undefined])
  })

  it('is not asked again the next time', async () => {
    const first = await ask({ scope: `openid ${scope}` })
    expect(first.asked).toBe(true)
    expect((await ask({ scope: `openid offline_access ${scope}` }, first.browser)).asked).toBe(false)
    // Also if the member has to sign in again.
    expect((await ask({ scope: `openid ${scope}`, prompt: 'login' }, first.browser)).asked).toBe(false)
  })

  it('and for nothing else is refused', async () => {
    const { page } = await ask({ scope: 'openid offline_access' })
    expect(page.location!.searchParams.get('error')).toBe('invalid_scope')
  })
})

const auth = authWorld()

it('oauth4webapi, unchanged, signs a member in, reads userinfo and renews', async () => {
  const options = byPort(auth)
  const client = { client_id: await registerOpenid(auth) }
  const at = new URL(issuer)
  const server = await oauth.processDiscoveryResponse(at, await oauth.discoveryRequest(at, options))
  const [verifier, state, nonce] = [
    oauth.generateRandomCodeVerifier(),
    oauth.generateRandomState(),
    oauth.generateRandomNonce(),
  ]
  const url = new URL(server.authorization_endpoint!)
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: everything,
    state,
    nonce,
    max_age: '600',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString()
  const back = await toApp(auth, url, auth.newBrowser())

  const parameters = oauth.validateAuthResponse(server, client, back, state)
  const code = oauth.authorizationCodeGrantRequest
  const answer = await code(server, client, oauth.None(), parameters, redirectUri, verifier, options)
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
    expectedNonce: nonce,
    maxAge: 600,
    requireIdToken: true,
  })
  await oauth.validateApplicationLevelSignature(server, answer, options)
  const { sub } = oauth.getValidatedIdTokenClaims(tokens)!
  expect(sub).toBe(auth.world.ids.member)

  const asked = await oauth.userInfoRequest(server, client, tokens.access_token, options)
  expect(await oauth.processUserInfoResponse(server, client, sub, asked)).toMatchObject({ email: 'mia@example.org' })

  const renewal = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token!, options)
  const renewed = await oauth.processRefreshTokenResponse(server, client, renewal)
  expect(oauth.getValidatedIdTokenClaims(renewed)!.sub).toBe(sub)
})

const secret = newClientSecret()
const keys = await generateKeyPair('ES256')

async function withSecret() {
  const client = await register(service.world, { authentication: 'client_secret' })
  await storeSecret(service.world, client, secret)
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
    const config = await discoverOauth(client, authentication())
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
    expect(await service.profileStatus(access_token)).toBe(200)
    const renewed = await openid.refreshTokenGrant(config, refresh_token!)
    expect(renewed.scope).toBe(scope)
    await openid.tokenRevocation(config, renewed.refresh_token!)
    await expect(openid.refreshTokenGrant(config, renewed.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
  })
})
