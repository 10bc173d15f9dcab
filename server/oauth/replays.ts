import type { Database } from '../../prisma/client.ts'
import { REPLAY_MS } from '../../routers/clients/replays.ts'
import { appViews, shownClient } from './app-views.ts'

/** The newest. */
const MAX_NOTICES = 20

/** The apps, each once for an organisation, whose access a replayed refresh token has ended in the last 30 days, the newest first. */
export async function replayNotices(db: Database, person: string, now: number) {
  const rows = await db.consent.findMany({
    where: { personId: person, replayedAt: { gt: new Date(now - REPLAY_MS) } },
    select: { replayedAt: true, client: { select: shownClient }, organisation: { select: { name: true } } },
    distinct: ['clientId', 'organisationId'],
    orderBy: [{ replayedAt: 'desc' }, { id: 'asc' }],
    take: MAX_NOTICES,
  })
  const apps = await appViews(
    db,
    rows.map(({ client }) => client),
  )
  return rows.map(({ organisation, replayedAt }, at) => ({
    ...{ app: apps[at]!, organisation: organisation.name, at: replayedAt! },
  }))
}
