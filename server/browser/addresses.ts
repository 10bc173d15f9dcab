/** Where the authorization server and the pages for people are. */
export const issuerOf = (authBaseUrl: string) => `${authBaseUrl}/oauth`

/** The redirect URI that is registered with the upstream provider. */
export const upstreamCallback = (issuer: string) => `${issuer}/upstream`
