import type { UserInfoResponse } from 'openid-client'
import * as openid from 'openid-client'
import { z } from 'zod'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { comparableEmail } from '../../../routers/kernel/email-address.ts'
import { verifyByAny } from '../../tokens/published-keys.ts'
import type { UpstreamClient } from './discovery.ts'
import { CLOCK_TOLERANCE_SECONDS, upstreamConfiguration } from './discovery.ts'

export interface Upstream {
  name: string
  /** Reads the provider's metadata, as the first sign-in does otherwise. Throws if that fails. */
  check(): Promise<void>
  /** Returns the URL to redirect to, and the state to store in that browser until it returns. */
  start(): Promise<{ url: string; state: string }>
  /** Returns the signed-in account; `email` only if the provider has verified it. Throws if anything is wrong. */
  finish(url: URL, state: string): Promise<{ issuer: string; subject: string; email: string | null }>
}

interface Settings extends UpstreamClient {
  name: string
  redirectUri: string
}

const SCOPE = 'openid email'

const text = z.string().min(1)
const stateSchema = z.object({ state: text, nonce: text, verifier: text })

/** Sign-in at another OpenID provider, which may be unavailable at the start. */
export function createUpstream(settings: Settings, now: () => number): Upstream {
  const { name, redirectUri } = settings
  const configuration = upstreamConfiguration(settings, now)

  const upstream: Pick<Upstream, 'start' | 'finish'> = {
    async start() {
      const { config } = await configuration()
      const secrets = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      }
      const url = openid.buildAuthorizationUrl(config, {
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: SCOPE,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, state: JSON.stringify(secrets) }
    },

    async finish(url, keptState) {
      const { state, nonce, verifier } = parseState(keptState)
      const { config, published } = await configuration()
      // The registered URL with the query of the request: behind a proxy the request's own URL may differ.
      const callback = new URL(redirectUri)
      callback.search = url.search
      const tokens = await openid.authorizationCodeGrant(config, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      await verifyByAny(tokens.id_token!, published, {
        currentDate: new Date(now()),
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
      })
      const { iss: issuer, sub: subject, ...claims } = tokens.claims()!
      if (!isPostgresText(subject)) throw new Error('the subject is longer than 255 characters or contains NUL')
      const needsUserInfo = claims.email === undefined && config.serverMetadata().userinfo_endpoint !== undefined
      const profile = needsUserInfo ? await openid.fetchUserInfo(config, tokens.access_token, subject) : claims
      return { issuer, subject, email: verifiedEmail(profile) }
    },
  }
  const fail = (prefix: string) => (error: unknown) => {
    throw new Error(prefix + listReasons(error).join(': '))
  }
  const explain = fail(`Signing in at ${settings.issuer} failed: `)
  return {
    name,
    check: () => configuration().then(() => {}, fail('')),
    start: () => upstream.start().catch(explain),
    finish: (url, state) => upstream.finish(url, state).catch(explain),
  }
}

function parseState(state: string) {
  try {
    return stateSchema.parse(JSON.parse(state))
  } catch {
    // A parser's own message would quote the secrets in it.
    throw new Error('the state kept in the browser is not valid')
  }
}

/** The messages of an error and its causes (openid-client's own is too general), without values, as these may be codes. */
function listReasons(thrown: unknown): string[] {
  if (!(thrown instanceof Error)) return []
  const { message, cause, error } = thrown as Error & { error?: unknown }
  const code = typeof error === 'string' && /^\w{1,40}$/.test(error) ? [error] : []
  return [message, ...code, ...listReasons(cause)]
}

const verifiedEmail = ({ email, email_verified }: Partial<UserInfoResponse>) =>
  email_verified === true && typeof email === 'string' ? comparableEmail(email) : null
