export const toIssuer = (authBaseUrl: string) => `${authBaseUrl}/oauth`

export const upstreamCallback = (issuer: string) => `${issuer}/upstream`

/** RFC 8414, 3.1: an issuer's path comes after the well-known path. */
export const METADATA_PATH = '/.well-known/oauth-authorization-server'

/** Below AUTH_BASE_URL: the page of a card, by its code. */
export const CARD = '/card/'
/** What its codes leave of the 400 characters of that page's address. */
export const MAX_AUTH_BASE_URL = 100
/** The keys of those codes, also with the path of AUTH_BASE_URL after it. */
export const CARD_KEYS_PATH = '/.well-known/membercards'
