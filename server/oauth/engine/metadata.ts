import { identityScopes } from '../../../routers/kernel/identity-scopes.ts'
import { memberScopes } from '../../../routers/kernel/scopes.ts'
import { languages } from '../../browser/language.ts'
import { algorithms } from '../keys/signing-key-store.ts'
import { clientAuthentication } from './client-credentials.ts'
import { DEVICE_GRANT } from './device-codes.ts'
import { routes } from './routes.ts'

/** RFC 8414. `documents`: clients may be described by a metadata document. */
export const buildMetadata = (issuer: string, documents = false) => ({
  issuer,
  authorization_endpoint: `${issuer}${routes.authorization}`,
  token_endpoint: `${issuer}${routes.token}`,
  revocation_endpoint: `${issuer}${routes.revocation}`,
  device_authorization_endpoint: `${issuer}${routes.device_authorization}`,
  jwks_uri: `${issuer}${routes.jwks}`,
  scopes_supported: memberScopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT],
  token_endpoint_auth_methods_supported: clientAuthentication.clientAuthMethods,
  token_endpoint_auth_signing_alg_values_supported: clientAuthentication.clientAuthSigningAlgValues,
  revocation_endpoint_auth_methods_supported: clientAuthentication.clientAuthMethods,
  revocation_endpoint_auth_signing_alg_values_supported: clientAuthentication.clientAuthSigningAlgValues,
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  ...(documents && { client_id_metadata_document_supported: true }),
})

/** The claims that each scope adds to `sub`. The directory does not say whether an e-mail address is verified. */
export const userinfoClaims = {
  profile: ['name', 'given_name', 'family_name', 'picture'],
  email: ['email'],
} as const

/** OpenID Connect Discovery. */
export const openidConfiguration = (issuer: string, documents = false) => ({
  ...buildMetadata(issuer, documents),
  userinfo_endpoint: `${issuer}${routes.userinfo}`,
  end_session_endpoint: `${issuer}${routes.end_session}`,
  scopes_supported: [...identityScopes, ...memberScopes],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: algorithms,
  claims_supported: [
    ...['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash'],
    ...userinfoClaims.profile,
    ...userinfoClaims.email,
  ],
  prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
  ui_locales_supported: languages,
  claims_parameter_supported: false,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
})
