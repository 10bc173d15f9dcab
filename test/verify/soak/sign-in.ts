import { createHash, randomBytes } from 'node:crypto'
import { memberScopes } from '../../../routers/kernel/scopes.ts'
import { Browser } from '../../oauth/browser.ts'
import { until } from '../../process/service.ts'
import { send } from '../../support/request.ts'
import type { World } from './world.ts'
import { REDIRECT } from './world.ts'

const ISSUER = 'http://auth.test/v1/oauth'
const SCOPES = memberScopes.filter((scope) => scope.startsWith('svc.'))

/**
 * One member's way through sign-in with a mailed code, consent, tokens, a call, a renewal and its revocation: the n-th of the
 * run. Throws with what came when a step is not answered as it has to be.
 */
export async function signIn(world: World, n: number) {
  const { publicPort } = world.topology
  const email = world.emailOf(world.people[n % world.people.length]!)
  const browser = new Browser(publicPort)
  // Codes and failures are limited by address.
  browser.localAddress = `127.1.${(n >> 8) & 255}.${n & 255}`
  const verifier = randomBytes(32).toString('base64url')
  const url = new URL(`${ISSUER}/authorize`)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: world.browser,
    redirect_uri: REDIRECT,
    scope: SCOPES.join(' '),
    state: 's',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  const earlier = world.mail.mailsTo(email).length
  const asked = await browser.submit(await browser.open(url), 'email', { email })
  const mails = await until(
    async () => world.mail.mailsTo(email),
    ({ length }) => length > earlier,
  )
  const [code] = /\d{8}/.exec(mails.at(-1)!.parts['text/plain']!)!
  const consent = await browser.submit(asked, 'code', { code })
  const organisation = world.ids.club
  const back = await browser.submit(consent, 'consent', { organisation, scope: SCOPES, decision: 'allow' })
  const granted = back.location?.searchParams.get('code')
  if (!granted) throw new Error(`consent: ${back.status} ${back.location ?? back.text}`)

  const post = async (endpoint: string, fields: Record<string, string>) => {
    const { status, text, json } = await browser.post(`${ISSUER}/${endpoint}`, { client_id: world.browser, ...fields })
    if (status !== 200) throw new Error(`${endpoint} ${fields.grant_type}: ${status} ${text}`)
    return json as { access_token: string; refresh_token: string }
  }
  const exchange = { grant_type: 'authorization_code', code: granted, code_verifier: verifier, redirect_uri: REDIRECT }
  const { refresh_token } = await post('token', exchange)
  const renewed = await post('token', { grant_type: 'refresh_token', refresh_token })
  const headers = { host: 'apps.test', authorization: `Bearer ${renewed.access_token}` }
  const { status, text } = await send(publicPort, 'GET', '/v1/me/profile', { headers })
  if (status !== 200) throw new Error(`profile: ${status} ${text}`)
  await post('revoke', { token: renewed.refresh_token })
}
