import type { Core } from '../kernel/context.ts'
import { DAY_SECONDS } from '../kernel/time.ts'

/** How long a consent that a replayed refresh token has ended is shown to its member and counted for the team. */
const REPLAY_DAYS = 30
export const REPLAY_MS = REPLAY_DAYS * DAY_SECONDS * 1_000
/** The clients with the most. */
const MAX_CLIENTS = 100

export interface ReplaysOfClient {
  client: string
  name: string
  consents: number
}

/** The numbers of consents that replays have ended, by client; clients without any are left out. */
export const replaysOf = ({ db, now }: Core, { team, client }: { team: string; client: string | null }) =>
  db.$queryRaw<ReplaysOfClient[]>`
    SELECT client.id AS client, client.name, count(*)::int AS consents
    FROM "Client" client JOIN "Consent" consent ON consent."clientId" = client.id
    WHERE client."teamId" = ${team} AND (${client}::text IS NULL OR client.id = ${client})
      AND consent."replayedAt" > ${new Date(now() - REPLAY_MS)}
    GROUP BY client.id ORDER BY count(*) DESC, client.id LIMIT ${MAX_CLIENTS}`
