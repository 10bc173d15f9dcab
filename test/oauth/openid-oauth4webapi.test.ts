import * as oauth from 'oauth4webapi'
import { expect, it } from 'vitest'
import { authWorld, issuer, redirectUri } from './auth-world.ts'
import { byPort, everything, registerOpenid, toApp } from './openid-world.ts'

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
