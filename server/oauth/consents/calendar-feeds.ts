import type { Database } from '../../../prisma/client.ts'
import { CONSENT_MS } from '../../../routers/kernel/access.ts'
import { isCurrent } from './consents.ts'

/** The addresses of a member's calendars that work, oldest first. `app` is null for those that the member has created. */
export async function listFeeds(db: Database, personId: string, now: number) {
  const consent = { withdrawnAt: null, createdAt: { gt: new Date(now - CONSENT_MS) } }
  const feeds = await db.calendarFeed.findMany({
    where: {
      personId,
      club: { memberships: { some: { personId, ...isCurrent(now) } } },
      OR: [{ consentId: null }, { consent }],
    },
    select: {
      id: true,
      clubId: true,
      createdAt: true,
      consent: { select: { client: { select: { name: true, app: { select: { name: true } } } } } },
    },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return feeds.map(({ consent, ...feed }) => ({ ...feed, app: consent && (consent.client.app ?? consent.client).name }))
}

/** False for another member's. */
export async function removeFeed(db: Database, personId: string, id: string): Promise<boolean> {
  await db.calendarFeed.deleteMany({ where: { id, personId } })
  return (await db.calendarFeed.count({ where: { id } })) === 0
}
