/** Paths below the issuer. Apart from metadata.ts, which loads oidc-provider: commands print one of them. */
export const routes = {
  authorization: '/authorize',
  token: '/token',
  revocation: '/revoke',
  jwks: '/jwks',
  device_authorization: '/device/auth',
  code_verification: '/device',
  userinfo: '/userinfo',
  end_session: '/end-session',
}
