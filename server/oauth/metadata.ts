import { memberScopes } from '../../routers/kernel/scopes.ts'
import { clientAuthentication } from './client-credentials.ts'

export const routes = { authorization: '/authorize', token: '/token', revocation: '/revoke', jwks: '/jwks' }

/** RFC 8414. */
export const metadataOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}${routes.authorization}`,
  token_endpoint: `${issuer}${routes.token}`,
  revocation_endpoint: `${issuer}${routes.revocation}`,
  jwks_uri: `${issuer}${routes.jwks}`,
  scopes_supported: memberScopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
  token_endpoint_auth_methods_supported: clientAuthentication.clientAuthMethods,
  token_endpoint_auth_signing_alg_values_supported: clientAuthentication.clientAuthSigningAlgValues,
  revocation_endpoint_auth_methods_supported: clientAuthentication.clientAuthMethods,
  revocation_endpoint_auth_signing_alg_values_supported: clientAuthentication.clientAuthSigningAlgValues,
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
})
