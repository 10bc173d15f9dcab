/** Scopes and parameters of OpenID Connect, which many libraries send by default. */
const OPENID_SCOPES = ['openid', 'offline_access']
const OPENID_PARAMETERS = ['nonce', 'max_age', 'acr_values', 'claims', 'claims_locales', 'id_token_hint']

/**
 * Converts an authorization request's query to plain OAuth 2.0: without OpenID Connect's scopes, which nobody can allow, and its
 * parameters, which oidc-provider refuses when `openid` is not requested.
 */
export function plainRequest(search: string): string {
  const query = new URLSearchParams(search)
  const [scope, ...more] = query.getAll('scope')
  const scopes = scope?.split(' ') ?? []
  const wanted = scopes.filter((one) => !OPENID_SCOPES.includes(one))
  // A repeated parameter is left for oidc-provider to refuse.
  if (more.length === 0 && wanted.length < scopes.length) {
    query.set('scope', wanted.join(' '))
    if (scopes.includes('openid')) for (const name of OPENID_PARAMETERS) query.delete(name)
  }
  // Codes and errors are returned in the query only: the other modes need a script, in this page or the app's. For a type with a
  // token, oidc-provider returns its errors in the fragment.
  if (query.get('response_type')?.includes('token')) query.set('response_type', 'unsupported')
  if ((query.get('response_mode') ?? 'query') !== 'query') query.set('response_mode', 'unsupported')
  return query.toString()
}
