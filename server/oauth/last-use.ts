import type { Database } from '../../prisma/client.ts'
import { REFRESH_TOKEN_SECONDS } from './lifetimes.ts'

/** The time of the last use; `unused`, or `longAgo`: before the oldest stored records. */
export type LastUse = Date | 'unused' | 'longAgo'

/**
 * When apps last got tokens under these grants. Each use replaces the refresh token, and the newest exists for 30 days: so no
 * extra write is needed, and a time is at most an access token's 10 minutes early.
 */
export async function lastUses(db: Database, grants: readonly string[], now: number) {
  const records = await db.oauthRecord.findMany({
    where: { model: 'RefreshToken', grantId: { in: [...grants] }, consumedAt: null },
    select: { grantId: true, payload: true },
  })
  const times = new Map<string, number>()
  for (const { grantId, payload } of records) {
    const seconds = Number((payload as { iat?: unknown }).iat)
    if (seconds > (times.get(grantId!) ?? 0)) times.set(grantId!, seconds)
  }
  return (ids: readonly string[], since: Date): LastUse => {
    const seconds = Math.max(...ids.map((id) => times.get(id) ?? 0))
    if (seconds > 0) return new Date(seconds * 1000)
    return now - since.getTime() > REFRESH_TOKEN_SECONDS * 1000 ? 'longAgo' : 'unused'
  }
}
