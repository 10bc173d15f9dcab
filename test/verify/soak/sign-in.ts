import { clubScopes, flow, redirectUri } from '../../oauth/auth-world.ts'
import type { startMailServer } from '../../oauth/mail-server.ts'
import { until } from '../../process/service.ts'
import { send } from '../../support/request.ts'
import type { Ids } from '../../support/tenant.ts'
import type { World } from './world.ts'

interface Place {
  publicPort: number
  ids: Ids
  mail: Pick<Awaited<ReturnType<typeof startMailServer>>, 'mailsTo'>
}

interface Journey {
  /** The how many-th of the run. */
  n: number
  email: string
  client: string
  organisation: string
}

interface Tokens {
  access_token: string
  refresh_token: string
}

/**
 * One member's way through sign-in with a mailed code and consent to tokens. Throws with what came when a step is not answered as
 * it has to be.
 */
export async function signInByMail({ publicPort, ids, mail }: Place, { n, email, client, organisation }: Journey) {
  const issuer = `http://auth.localhost:${publicPort}/v1/oauth`
  const { authorizeUrl, newBrowser } = flow({ publicPort, ids }, issuer)
  const browser = newBrowser()
  // Codes and failures are limited by address.
  browser.localAddress = `127.1.${(n >> 8) & 255}.${n & 255}`
  const { url, verifier } = authorizeUrl({ client, scope: clubScopes.join(' ') })
  const earlier = mail.mailsTo(email).length
  const asked = await browser.submit(await browser.open(url), 'email', { email })
  const mails = await until(
    async () => mail.mailsTo(email),
    ({ length }) => length > earlier,
  )
  const [code] = /\d{8}/.exec(mails.at(-1)!.parts['text/plain']!)!
  const consent = await browser.submit(asked, 'code', { code })
  const back = await browser.submit(consent, 'consent', { organisation, scope: clubScopes, decision: 'allow' })
  const granted = back.location?.searchParams.get('code')
  if (!granted) throw new Error(`consent: ${back.status} ${back.location ?? back.text}`)

  const post = async (endpoint: string, fields: Record<string, string>) => {
    const { status, text, json } = await browser.post(`${issuer}/${endpoint}`, { client_id: client, ...fields })
    if (status !== 200) throw new Error(`${endpoint} ${fields.grant_type}: ${status} ${text}`)
    return json as Tokens
  }
  const exchange = {
    grant_type: 'authorization_code',
    code: granted,
    code_verifier: verifier,
    redirect_uri: redirectUri,
  }
  return { tokens: await post('token', exchange), post }
}

/** A member's sign-in, a call, a renewal and its revocation: the n-th of the run. */
export async function signIn(world: World, n: number) {
  const { publicPort } = world.topology
  const email = world.toEmail(world.people[n % world.people.length]!)
  const journey = { n, email, client: world.browser, organisation: world.ids.club }
  const { tokens, post } = await signInByMail({ ...world, publicPort }, journey)
  const renewed = await post('token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token })
  const headers = { host: 'apps.localhost', authorization: `Bearer ${renewed.access_token}` }
  const { status, text } = await send(publicPort, 'GET', '/v1/me/profile', { headers })
  if (status !== 200) throw new Error(`profile: ${status} ${text}`)
  await post('revoke', { token: renewed.refresh_token })
}
