import type { ClientAuth, Configuration } from 'openid-client'
import * as openid from 'openid-client'
import { boundedFetch } from '../../tokens/bounded-fetch.ts'
import { isLoopback } from '../../tokens/loopback.ts'
import type { PublishedKeys } from '../../tokens/published-keys.ts'
import { publishedAt } from '../../tokens/published-keys.ts'

export interface UpstreamClient {
  issuer: string
  clientId: string
  clientSecret?: string
}

const TIMEOUT_SECONDS = 5
export const CLOCK_TOLERANCE_SECONDS = 30
const METADATA_MS = 3_600_000

export interface UpstreamServer {
  config: Configuration
  /** openid-client itself refuses a token without `kid` where several keys fit. */
  published: PublishedKeys
}

/** Cached for an hour. Concurrent callers share one request; failures are not cached. */
export function upstreamConfiguration(
  { issuer, clientId, clientSecret }: UpstreamClient,
  now: () => number,
): () => Promise<UpstreamServer> {
  const server = new URL(issuer)
  const insecure = server.protocol === 'http:'
  if (insecure && !isLoopback(server.hostname)) throw new Error('LOGIN_ISSUER is not an https address')
  const execute = insecure ? [openid.allowInsecureRequests] : []
  let cached: { found: UpstreamServer; until: number } | undefined
  let pending: Promise<UpstreamServer> | undefined

  const discover = async () => {
    const clock = {
      [openid.clockSkew]: Math.round((now() - Date.now()) / 1000),
      [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
    }
    const read: openid.CustomFetch = (address, { body = null, ...rest }) => boundedFetch(address, { ...rest, body })
    const options = { timeout: TIMEOUT_SECONDS, execute, [openid.customFetch]: read }
    const config = await openid.discovery(server, clientId, clock, authentication(clientSecret), options)
    const { jwks_uri: address } = config.serverMetadata()
    if (address === undefined) throw new Error('the metadata names no jwks_uri')
    const found = { config, published: publishedAt(address, TIMEOUT_SECONDS * 1000) }
    cached = { found, until: now() + METADATA_MS }
    return found
  }
  return async () => {
    if (cached && now() < cached.until) return cached.found
    pending ??= discover().finally(() => {
      pending = undefined
    })
    return pending
  }
}

/** Returns client_secret_basic, OpenID Connect's default, unless the provider supports only client_secret_post. */
function authentication(secret: string | undefined): ClientAuth {
  if (secret === undefined) return openid.None()
  return (issuer, ...rest) => {
    const methods = issuer.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const inBody = methods.includes('client_secret_post') && !methods.includes('client_secret_basic')
    return (inBody ? openid.ClientSecretPost(secret) : openid.ClientSecretBasic(secret))(issuer, ...rest)
  }
}
