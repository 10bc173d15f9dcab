export const issuerOf = (authBaseUrl: string) => `${authBaseUrl}/oauth`

/** The redirect URI registered with the upstream provider. */
export const upstreamCallback = (issuer: string) => `${issuer}/upstream`
