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
import { need } from './platform.ts'
import { abortAfter } from './timers.ts'

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

/** What the library needs for each request. */
export const needForTokens = () =>
  need('Sign-in', 'URL', 'URLSearchParams', 'fetch', 'Headers', 'Response', 'AbortController', 'AbortSignal')

/** Shorter than the time that a tab waits for another one. */
const TIMEOUT_MS = 10_000

/** RFC 8252, 8.3: requests that stay on this machine need no TLS. */
const isOnThisMachine = (issuer: string) => /^(127\.0\.0\.1|\[::1\]|(.+\.)?localhost)$/.test(new URL(issuer).hostname)

interface Options {
  signal: AbortSignal
  [allowInsecureRequests]: boolean
}

export function authorizationServer(issuer: string, clientId: string) {
  const client = { client_id: clientId }
  let found: Promise<AuthorizationServer> | undefined

  /** Sends a request, and reads its answer. */
  async function ask<Result>(request: (options: Options) => Promise<Result>): Promise<Result> {
    needForTokens()
    const limit = abortAfter(TIMEOUT_MS)
    try {
      return await request({ signal: limit.signal, [allowInsecureRequests]: isOnThisMachine(issuer) })
    } catch (error) {
      throw limit.signal.aborted ? unavailable(error) : toFailure(error as Error)
    } finally {
      limit.release()
    }
  }

  /** The server's metadata, requested once at first use. */
  function metadata(): Promise<AuthorizationServer> {
    found ??= ask(async (options) => {
      const url = new URL(issuer)
      return processDiscoveryResponse(url, await discoveryRequest(url, { ...options, algorithm: 'oauth2' }))
    }).catch((error) => {
      found = undefined
      throw error
    })
    return found
  }

  return {
    client,
    metadata,
    async exchange(answer: URLSearchParams, redirectUri: string, verifier: string): Promise<TokenSet> {
      const server = await metadata()
      return ask(async (options) => {
        const args = [server, client, None(), answer, redirectUri, verifier, options] as const
        const answered = withoutIdToken(await authorizationCodeGrantRequest(...args))
        return processAuthorizationCodeResponse(server, client, answered)
      })
    },
    async renew(refreshToken: string): Promise<TokenSet> {
      const server = await metadata()
      return ask(async (options) => {
        const sent = refreshTokenGrantRequest(server, client, None(), refreshToken, options)
        return processRefreshTokenResponse(server, client, withoutIdToken(await sent))
      })
    },
    async revoke(refreshToken: string): Promise<void> {
      const server = await metadata()
      return ask(async (options) =>
        processRevocationResponse(await revocationRequest(server, client, None(), refreshToken, options)),
      )
    },
  }
}

/**
 * Nothing here reads an ID token. The library would refuse one by the device's clock, and all but RS256, as the metadata of
 * RFC 8414 names no algorithms.
 */
function withoutIdToken(response: Response): Response {
  const json = response.json.bind(response)
  return Object.assign(response, {
    async json() {
      const body = await json()
      delete Object(body).id_token
      return body
    },
  })
}

/** For a request without an answer, the TypeError that `fetch` throws. */
function toFailure(error: Error): Error {
  if (error instanceof ResponseBodyError)
    return new SignInFailed(error.error, error.error_description ?? error.error, error)
  return error.cause instanceof Response && error.cause.status >= 500 ? unavailable(error) : error
}

const unavailable = (cause: unknown) =>
  new SignInFailed('temporarily_unavailable', 'The authorization server does not answer right now.', cause)
