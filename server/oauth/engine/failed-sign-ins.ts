import type { IncomingMessage } from 'node:http'
import type { Context } from 'koa'
import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import { plainAddress, plainMessage, plainScopes } from '../../../routers/developer/activity/sign-in-texts.ts'
import { routes } from './routes.ts'

export interface FailedSignIn {
  method: string
  /** As `/authorize`. */
  route: string
  status: number
  /** As in RFC 6749. */
  error: string
  message: string
  /** Without query, fragment and credentials; null where none was sent. */
  redirectUri: string | null
  /** Separated by spaces; null where none were sent. */
  scopes: string | null
}

/** Answers that an app has to expect: the member has denied or not answered yet, or has to be asked. */
const EXPECTED = new Set([
  'access_denied',
  'authorization_pending',
  'slow_down',
  'expired_token',
  'login_required',
  'consent_required',
  'interaction_required',
])

/** By oidc-provider's name. */
const watched = new Map([
  ['authorization', routes.authorization],
  ['resume', routes.authorization],
  ['token', routes.token],
  ['device_authorization', routes.device_authorization],
])

interface OauthError {
  error: string
  error_description?: string
  error_detail?: string
  status: number
}

/** Finds out why requests fail: the answer to a browser is a page or a redirect. */
export function watchFailures() {
  const thrown = new WeakMap<IncomingMessage, OauthError>()
  return {
    /** The second of two errors of one request is the one that is answered. */
    watch(provider: Provider) {
      const keep = ({ req }: { req: IncomingMessage }, error: unknown) => void thrown.set(req, error as OauthError)
      provider.on('authorization.error', keep)
      provider.on('grant.error', keep)
      provider.on('device_authorization.error', keep)
    },
    /** Undefined for a request that has not failed, is of no known client, or failed as its app expects. */
    find(ctx: Context): { client: string; failure: FailedSignIn } | undefined {
      const { oidc, req, method } = ctx as Context & Partial<KoaContextWithOIDC>
      const route = watched.get(oidc?.route ?? '')
      const error = thrown.get(req)
      // A replayed refresh token is refused after oidc-provider has accepted it.
      const answer = (typeof Object(ctx.body).error === 'string' ? ctx.body : error) as OauthError | undefined
      if (!route || !oidc?.client || !answer || EXPECTED.has(answer.error)) return undefined
      const status = error?.status ?? ctx.status
      if (status >= 500) return undefined
      const { redirect_uri, scope } = oidc.params ?? {}
      const failure = {
        method,
        route,
        status,
        error: answer.error,
        message: plainMessage(error?.error_detail ?? answer.error_description ?? answer.error),
        redirectUri: typeof redirect_uri === 'string' ? plainAddress(redirect_uri) : null,
        scopes: typeof scope === 'string' ? plainScopes(scope) : null,
      }
      return { client: oidc.client.clientId, failure }
    },
  }
}
