import type { IdentityScope } from '../../../routers/kernel/identity-scopes.ts'
import { dropHints } from './request-parameters.ts'

/** Which many libraries ask for by default. */
const OPENID_SCOPES = ['openid', 'profile', 'email', 'offline_access']

/** Without `openid` they have no effect in a browser. */
const OPENID_HINTS = ['login_hint', 'ui_locales']

export const asksForOpenid = (request: URLSearchParams) =>
  request.getAll('scope').some((scope) => scope.split(' ').includes('openid'))

/**
 * Converts an authorization request's query to what its client has registered: without the scopes of OpenID Connect that it has
 * not, and without `openid` to plain OAuth 2.0.
 */
export function plainRequest(query: URLSearchParams, registered: readonly IdentityScope[]): string {
  const [scope, ...more] = query.getAll('scope')
  const scopes = scope?.split(' ') ?? []
  const isOpenid = scopes.includes('openid') && registered.includes('openid')
  const allowed: readonly string[] = isOpenid ? registered : []
  const wanted = scopes.filter((one) => !OPENID_SCOPES.includes(one) || allowed.includes(one))
  // A repeated parameter is left for oidc-provider to refuse.
  if (more.length === 0 && wanted.length < scopes.length) query.set('scope', wanted.join(' '))
  dropHints(query, isOpenid)
  if (!isOpenid) for (const name of OPENID_HINTS) query.delete(name)
  // The page for the sign-in is also the one on which to choose another account.
  const [prompt, ...prompts] = query.getAll('prompt')
  if (prompt && prompts.length === 0) query.set('prompt', prompt.replace(/\bselect_account\b/, 'login'))
  // Codes and errors are returned in the query only: the other modes need a script, in this page or the app's. For a type with a
  // token, oidc-provider returns its errors in the fragment.
  if (query.get('response_type')?.includes('token')) query.set('response_type', 'unsupported')
  if ((query.get('response_mode') ?? 'query') !== 'query') query.set('response_mode', 'unsupported')
  return query.toString()
}
