import type { ClientAuth, Configuration } from 'openid-client'
import * as openid from 'openid-client'
import { isLoopback } from '../../tokens/loopback.ts'

/** The service as the issuer knows it. */
export interface Client {
  issuer: string
  clientId: string
  clientSecret?: string
}

const TIMEOUT_SECONDS = 5
const CLOCK_TOLERANCE_SECONDS = 30
/** How long what the issuer says about itself is believed; its keys are looked up again when one is unknown. */
const DISCOVERY_MS = 3_600_000

/** What the issuer says about itself, remembered; one question at a time, and after a failure the next caller asks again. */
export function discovered(
  { issuer, clientId, clientSecret }: Client,
  now: () => number,
): () => Promise<Configuration> {
  const server = new URL(issuer)
  const insecure = server.protocol === 'http:'
  if (insecure && !isLoopback(server.hostname)) throw new Error('The outside sign-in has to be at an https address')
  const execute = [openid.enableNonRepudiationChecks, ...(insecure ? [openid.allowInsecureRequests] : [])]
  let known: { config: Configuration; until: number } | undefined
  let underWay: Promise<Configuration> | undefined

  const ask = async () => {
    const clock = {
      [openid.clockSkew]: Math.round((now() - Date.now()) / 1000),
      [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
    }
    const options = { timeout: TIMEOUT_SECONDS, execute }
    const config = await openid.discovery(server, clientId, clock, authentication(clientSecret), options)
    known = { config, until: now() + DISCOVERY_MS }
    return config
  }
  return async () => {
    if (known && now() < known.until) return known.config
    underWay ??= ask().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}

/** The secret goes in the header, as OpenID Connect has it by default, unless the issuer takes it in the body only. */
function authentication(secret: string | undefined): ClientAuth {
  if (secret === undefined) return openid.None()
  return (issuer, ...rest) => {
    const methods = issuer.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const inBody = methods.includes('client_secret_post') && !methods.includes('client_secret_basic')
    return (inBody ? openid.ClientSecretPost(secret) : openid.ClientSecretBasic(secret))(issuer, ...rest)
  }
}
