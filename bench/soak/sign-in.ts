import { createHash, randomBytes } from 'node:crypto'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { Browser } from '../../test/oauth/browser.ts'
import { send } from '../../test/support/request.ts'
import type { World } from './world.ts'
import { REDIRECT } from './world.ts'

const ISSUER = 'http://auth.test/v1/oauth'
const SCOPES = memberScopes.filter((scope) => scope.startsWith('svc.'))

/**
 * One member's way through sign-in with a mailed code, consent, tokens, a call, a renewal and its revocation. Throws with what
 * came when a step is not answered as it has to be.
 */
export async function signIn(world: World, person: string, n: number) {
  const { publicPort } = world.topology
  const browser = new Browser(publicPort)
  // Codes and failures are limited by address.
  browser.localAddress = `127.1.${(n >> 8) & 255}.${n & 255}`
  const verifier = randomBytes(32).toString('base64url')
  const url = new URL(`${ISSUER}/authorize`)
  const parameters = {
    ...{ response_type: 'code', client_id: world.browser, redirect_uri: REDIRECT, scope: SCOPES.join(' '), state: 's' },
    ...{ code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256' },
  }
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  const email = world.emailOf(person)
  const asked = await browser.submit(await browser.open(url), 'email', { email })
  const consent = await browser.submit(asked, 'code', { code: await world.mail.takeCode(email) })
  const back = await browser.submit(consent, 'consent', {
    organisation: world.ids.club,
    scope: SCOPES,
    decision: 'allow',
  })
  const token = async (fields: Record<string, string>) => {
    const answer = await browser.post(`${ISSUER}/token`, { client_id: world.browser, ...fields })
    if (answer.status !== 200) throw new Error(`token ${fields.grant_type}: ${answer.status} ${answer.text}`)
    return answer.json as { access_token: string; refresh_token: string }
  }
  const code = back.location?.searchParams.get('code')
  if (!code) throw new Error(`consent: ${back.status} ${back.location ?? back.text}`)
  await token({ grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: REDIRECT })
    .then(({ refresh_token }) => token({ grant_type: 'refresh_token', refresh_token }))
    .then(async ({ access_token, refresh_token }) => {
      const headers = { host: 'apps.test', authorization: `Bearer ${access_token}` }
      const { status, text } = await send(publicPort, 'GET', '/v1/me/profile', { headers })
      if (status !== 200) throw new Error(`profile: ${status} ${text}`)
      const revoked = await browser.post(`${ISSUER}/revoke`, { client_id: world.browser, token: refresh_token })
      if (revoked.status !== 200) throw new Error(`revoke: ${revoked.status} ${revoked.text}`)
    })
}
