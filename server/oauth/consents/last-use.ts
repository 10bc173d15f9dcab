import { REFRESH_TOKEN_SECONDS } from '../keys/lifetimes.ts'

/** The time of the last use; `unused`, or `longAgo`: before the oldest stored records. */
export type LastUse = Date | 'unused' | 'longAgo'

/**
 * When an app last got tokens under a "Consent" `consent`, in Unix seconds; null if there is no record. Each use replaces the
 * refresh token, and the newest exists for 30 days: so no extra write is needed, and a time is at most an access token's 15
 * minutes early.
 */
export const LAST_USE = `(SELECT max((payload->>'iat')::int8) FROM "OauthRecord"
    WHERE "grantId" = consent.id AND model = 'RefreshToken' AND "consumedAt" IS NULL) AS "lastUse"`

/** @param times As LAST_USE says them, of all consents of an app. */
export function toLastUse(times: readonly (number | null)[], since: Date, now: number): LastUse {
  const seconds = Math.max(...times.map((time) => time ?? 0))
  if (seconds > 0) return new Date(seconds * 1000)
  return now - since.getTime() > REFRESH_TOKEN_SECONDS * 1000 ? 'longAgo' : 'unused'
}
