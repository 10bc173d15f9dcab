import type { AuthorizationServer } from 'oauth4webapi'
import {
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  discoveryRequest,
  None,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  processRefreshTokenResponse,
  processRevocationResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  revocationRequest,
} from 'oauth4webapi'

/** A failed sign-in or renewal: `access_denied` when the member refused, else another code of OAuth or of this package. */
export class SignInFailed extends Error {
  override name = 'SignInFailed'
  /** `not_begun_here`: the answer belongs to no sign-in of this tab. `temporarily_unavailable`: try again later. */
  readonly code: string

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

export interface TokenSet {
  access_token: string
  refresh_token?: string
  scope?: string
}

/** Shorter than the time that a tab waits for another one. */
const TIMEOUT_MS = 10_000

/** RFC 8252, 8.3: requests that stay on this machine need no TLS. */
const isOnThisMachine = ({ hostname }: URL) => /^(127\.0\.0\.1|\[::1\]|(.+\.)?localhost)$/.test(hostname)

export function authorizationServer(issuer: string, clientId: string) {
  const url = new URL(issuer)
  const client = { client_id: clientId }
  const options = () => ({
    signal: AbortSignal.timeout(TIMEOUT_MS),
    [allowInsecureRequests]: isOnThisMachine(url),
  })
  let found: Promise<AuthorizationServer> | undefined

  /** The server's metadata, requested once at first use. */
  function metadata(): Promise<AuthorizationServer> {
    found ??= discoveryRequest(url, { ...options(), algorithm: 'oauth2' })
      .then((response) => processDiscoveryResponse(url, response))
      .catch((error) => {
        found = undefined
        throw failureOf(error)
      })
    return found
  }
  const tokens = (answer: Promise<unknown>) =>
    answer.catch((error) => {
      throw failureOf(error)
    }) as Promise<TokenSet>

  return {
    client,
    metadata,
    exchange: async (answer: URLSearchParams, redirectUri: string, verifier: string) => {
      const server = await metadata()
      const asked = authorizationCodeGrantRequest(server, client, None(), answer, redirectUri, verifier, options())
      return tokens(asked.then((response) => processAuthorizationCodeResponse(server, client, response)))
    },
    renew: async (refreshToken: string) => {
      const server = await metadata()
      const asked = refreshTokenGrantRequest(server, client, None(), refreshToken, options())
      return tokens(asked.then((response) => processRefreshTokenResponse(server, client, response)))
    },
    revoke: async (refreshToken: string) => {
      const server = await metadata()
      const asked = revocationRequest(server, client, None(), refreshToken, options())
      await asked.then(processRevocationResponse).catch((error) => {
        throw failureOf(error)
      })
    },
  }
}

/** For a request without an answer, the TypeError that `fetch` throws. */
function failureOf(error: Error): Error {
  if (error instanceof ResponseBodyError)
    return new SignInFailed(error.error, error.error_description ?? error.error, error)
  const isBusy = error.cause instanceof Response && error.cause.status >= 500
  if (isBusy || error.name === 'TimeoutError') {
    return new SignInFailed('temporarily_unavailable', 'The authorization server does not answer right now.', error)
  }
  return error
}
