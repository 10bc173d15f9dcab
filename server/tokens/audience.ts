/** Whom a token of ours is for: the three APIs together. It depends on no port and no base URL. */
export const AUDIENCE = 'urn:member-apps-api'
