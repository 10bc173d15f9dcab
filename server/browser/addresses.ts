export const toIssuer = (authBaseUrl: string) => `${authBaseUrl}/oauth`

export const upstreamCallback = (issuer: string) => `${issuer}/upstream`

/** RFC 8414, 3.1: an issuer's path comes after the well-known path. */
export const METADATA_PATH = '/.well-known/oauth-authorization-server'
