import type { Database } from '../../../prisma/client.ts'
import { instant, int, statement, text } from '../../../prisma/pg/statement.ts'
import { REPLAY_MS } from '../../../routers/developer/activity/replays.ts'
import { labelItems, organisationLabel } from '../../../routers/kernel/labels.ts'
import { unixMs } from '../../../routers/kernel/time.ts'
import { appViews, SHOWN, shown } from './app-views.ts'

/** How many of the newest are shown. */
const MAX_NOTICES = 20

/** The newest of each app and organisation. */
const replayed = statement(
  'replay_notices',
  `SELECT organisation, name, at, client FROM (
      SELECT DISTINCT ON ("clientId", "organisationId") consent.id, organisation.id AS organisation, ${organisationLabel('organisation')} AS name,
        ${unixMs('"replayedAt"')} AS at, ${SHOWN}
      FROM "Consent" consent JOIN "Client" client ON client.id = "clientId"
        JOIN "Organisation" organisation ON organisation.id = "organisationId"
      WHERE "personId" = $person AND "replayedAt" > $since::timestamptz
      ORDER BY "clientId", "organisationId", "replayedAt" DESC, consent.id) notice
    ORDER BY at DESC, id LIMIT ${MAX_NOTICES}`,
  { person: text, since: instant },
  { organisation: text, name: text, at: int, ...shown },
)

/** The apps, each once for an organisation, whose access a replayed refresh token has ended in the last 30 days, the newest first. */
export async function replayNotices(db: Database, person: string, now: number) {
  const rows = await db.execute(replayed, { person, since: now - REPLAY_MS })
  const apps = await appViews(
    db,
    rows.map(({ client }) => client),
  )
  const labels = labelItems(rows.map(({ organisation: id, name }) => ({ id, name })))
  return rows.map(({ organisation, at }, i) => ({
    app: apps[i]!,
    organisation: labels.get(organisation)!,
    at: new Date(at),
  }))
}
