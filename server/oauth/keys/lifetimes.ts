import { CONSENT_MS } from '../../../routers/kernel/access.ts'

/** Nothing outlives the grant under which it was issued: a token ends with its grant. */
export const ACCESS_TOKEN_SECONDS = 900
export const CODE_SECONDS = 60
/** Since its last use: each use replaces it. */
export const REFRESH_TOKEN_SECONDS = 30 * 86_400
/** The time in which a public client's used refresh token returns its successor again. */
export const REUSE_SECONDS = 60
/** Since the consent, however often tokens are refreshed. */
export const GRANT_SECONDS = CONSENT_MS / 1000
/** How long a browser stays signed in without being used. */
export const SESSION_SECONDS = 8 * 3600
/** In which a member may enter a device's code and decide. */
export const DEVICE_CODE_SECONDS = 600
/** Between a device's polls, at first. */
export const DEVICE_INTERVAL_SECONDS = 5
/** How long an expired device code is stored: devices that ask learn that it has expired. */
export const EXPIRED_DEVICE_CODE_SECONDS = 600
