export const issuerOf = (authBaseUrl: string) => `${authBaseUrl}/oauth`

export const upstreamCallback = (issuer: string) => `${issuer}/upstream`
