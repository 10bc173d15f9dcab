import { instant, int, nullable, statement, text } from '../../../prisma/pg/statement.ts'
import type { Core } from '../../kernel/context.ts'
import { DAY_MS } from '../../kernel/time.ts'

/** How long a consent that a replayed refresh token has ended is shown to its member and counted for the team. */
const REPLAY_DAYS = 30
export const REPLAY_MS = REPLAY_DAYS * DAY_MS
/** The clients with the most. */
const MAX_CLIENTS = 100

const replayed = statement(
  'replays_of_team',
  `SELECT client.id AS client, client.name, count(*) AS consents
    FROM "Client" client JOIN "Consent" consent ON consent."clientId" = client.id
    WHERE client."teamId" = $team AND ($client::text IS NULL OR client.id = $client)
      AND ($app::text IS NULL OR client."appId" = $app) AND consent."replayedAt" > $since::timestamptz
    GROUP BY client.id ORDER BY count(*) DESC, client.id LIMIT ${MAX_CLIENTS}`,
  { team: text, client: nullable(text), app: nullable(text), since: instant },
  { client: text, name: text, consents: int },
)

/** The numbers of consents that replays have ended, by client; clients without any are left out. */
export const listReplays = (
  { db, now }: Core,
  { team, client, app }: { team: string; client: string | null; app: string | null },
) => db.execute(replayed, { team, client, app, since: now() - REPLAY_MS })
