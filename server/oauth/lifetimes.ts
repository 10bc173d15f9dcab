/** In seconds. What is issued ends with whatever it was issued under. */
export const ACCESS_TOKEN_SECONDS = 600
export const CODE_SECONDS = 60
/** From its last use, as each use makes a new one. */
export const REFRESH_TOKEN_SECONDS = 30 * 86_400
/** From the consent on, whatever is renewed meanwhile. */
export const GRANT_SECONDS = 365 * 86_400
/** How long a member may take to sign in and to consent. */
export const INTERACTION_SECONDS = 15 * 60
/** How long a browser stays signed in without use. */
export const SESSION_SECONDS = 8 * 3600
