import * as openid from 'openid-client'
import { beforeAll, describe, expect, it } from 'vitest'
import { authWorld, issuer, redirectUri } from './auth-world.ts'

const scope = 'svc.me.profile:read'

const service = authWorld()
let config: openid.Configuration
beforeAll(async () => {
  const customFetch: openid.CustomFetch = async (url, { method, headers, body }) => {
    const answer = await service.app.send(method, new URL(url), headers, body?.toString())
    return new Response(answer.text, { status: answer.status, headers: { 'content-type': 'application/json' } })
  }
  config = await openid.discovery(new URL(issuer), service.client, undefined, openid.None(), {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
    [openid.customFetch]: customFetch,
  })
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
    expect((await service.world.call('GET', '/me/profile', { token: access_token })).status).toBe(200)
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
