import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import type { AuthWorld } from './auth-world.ts'
import { issuer, redirectUri, register } from './auth-world.ts'
import type { Browser } from './browser.ts'

export const api = 'svc.me.profile:read'
export const everything = `openid profile email ${api}`

/** A client of the tenant's app that has registered OpenID Connect. */
export const registerOpenid = (
  { world }: AuthWorld,
  scopes = [...everything.split(' '), 'svc.me.groups:read', 'lms.me.quizzes:read'],
) => register(world, { scopes })

/** The `fetch` of openid-client and oauth4webapi, by way of the service's port. */
export const fetchByPort =
  ({ app }: Pick<AuthWorld, 'app'>) =>
  async (url: string, { method, headers, body }: Pick<openid.CustomFetchOptions, 'method' | 'headers' | 'body'>) => {
    const answer = await app.send(method, new URL(url), headers, body?.toString())
    return new Response(answer.text, { status: answer.status, headers: answer.headers as Record<string, string> })
  }

/** openid-client as an app uses it. */
export const discover = (service: AuthWorld, client: string, authentication = openid.None()) =>
  openid.discovery(new URL(issuer), client, undefined, authentication, {
    execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks],
    [openid.customFetch]: fetchByPort(service),
  })

/** For requests of oauth4webapi. */
export const byPort = (service: Pick<AuthWorld, 'app'>) => ({
  [oauth.allowInsecureRequests]: true,
  [oauth.customFetch]: fetchByPort(service),
})

/** Up to the redirect to the app, allowing whatever the page asks for. */
export async function toApp(service: AuthWorld, url: URL, browser: Browser): Promise<URL> {
  const { member, club } = service.world.ids
  const page = await service.toConsent(browser, url, member)
  if (page.location) return page.location
  const scope = url.searchParams.get('scope')!.split(' ')
  return (await browser.submit(page, 'consent', { organisation: club, scope, decision: 'allow' })).location!
}

/** A sign-in with a library that checks the ID token's signature, `iss`, `aud`, `exp`, `nonce`, and `auth_time` with max_age. */
export async function signIn(
  service: AuthWorld,
  config: openid.Configuration,
  more: Record<string, string> = {},
  browser = service.newBrowser(),
) {
  const verifier = openid.randomPKCECodeVerifier()
  const [state, nonce] = [openid.randomState(), openid.randomNonce()]
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: everything,
    state,
    nonce,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...more,
  })
  const back = await toApp(service, url, browser)
  const tokens = await openid.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  })
  return { ...tokens, claims: tokens.claims()!, browser, back, verifier }
}

export const userinfo = ({ app }: AuthWorld, token: string, method = 'GET') =>
  app.send(method, new URL(`${issuer}/userinfo`), { authorization: `Bearer ${token}` })
