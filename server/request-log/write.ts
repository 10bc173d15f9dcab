import type { Database } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { instants, ints, statement, text, texts } from '../../prisma/pg/statement.ts'

export interface Line {
  client: string
  requestId: string
  /** Unix time in milliseconds. */
  at: number
  method: string
  route: string | null
  status: number
  error: string
  message: string | null
  ms: number
  /** As `memberMark` makes it; null without a member. */
  member: string | null
}

export interface Counted {
  client: string
  /** The beginning of the minute, in Unix milliseconds. */
  at: number
  ok: number
  refused: number
  limited: number
}

/** Lines stored per team and minute. */
export const MAX_LINES = 200

/**
 * The clients' teams; the platform's clients have none, nor do removed clients. Locks each team, so that other nodes count its
 * lines after these, and so that its removal waits, as both would lock its rows.
 */
const lock = statement(
  'request_log_lock',
  `SELECT client.id AS client, team.id AS team FROM "Client" client JOIN "Team" team ON team.id = client."teamId"
  WHERE client.id = ANY ($clients::text[]) ORDER BY team.id FOR NO KEY UPDATE OF team`,
  { clients: texts },
  { client: text, team: text },
)

const storeLines = statement(
  'request_log_store',
  `WITH line AS (
    SELECT *, date_trunc('minute', at) AS minute,
      row_number() OVER (PARTITION BY team, date_trunc('minute', at) ORDER BY at) AS number
    FROM unnest($teams::text[], $clients::text[], $requestIds::text[], $ats::timestamptz[], $methods::text[], $routes::text[],
        $statuses::int[], $errors::text[], $messages::text[], $durations::int[], $members::text[])
      AS given (team, client, "requestId", at, method, route, status, error, message, ms, member)
  ), kept AS (
    SELECT team, minute, (SELECT count(*) FROM "RefusedRequest"
      WHERE "teamId" = team AND at >= minute AND at < minute + interval '1 minute') AS lines
    FROM line GROUP BY team, minute
  )
  INSERT INTO "RefusedRequest" ("teamId", "clientId", "requestId", at, method, route, status, error, message, ms, member)
  SELECT team, client, "requestId", at, method, route, status, error, message, ms, member
  FROM line JOIN kept USING (team, minute) WHERE number + lines <= ${MAX_LINES} ORDER BY at`,
  {
    teams: texts,
    clients: texts,
    requestIds: texts,
    ats: instants,
    methods: texts,
    routes: texts,
    statuses: ints,
    errors: texts,
    messages: texts,
    durations: ints,
    members: texts,
  },
  {},
)

const storeCounts = statement(
  'request_log_count',
  `INSERT INTO "ClientUsage" ("teamId", span, at, "clientId", ok, refused, limited)
  SELECT team, span::"UsageSpan", date_trunc(span, at), client, sum(ok), sum(refused), sum(limited)
  FROM unnest($teams::text[], $clients::text[], $ats::timestamptz[], $ok::int[], $refused::int[], $limited::int[])
      AS given (team, client, at, ok, refused, limited), unnest('{minute,hour}'::text[]) AS span
  GROUP BY team, span, date_trunc(span, at), client
  ON CONFLICT ("teamId", span, at, "clientId") DO UPDATE SET ok = "ClientUsage".ok + excluded.ok,
    refused = "ClientUsage".refused + excluded.refused, limited = "ClientUsage".limited + excluded.limited`,
  { teams: texts, clients: texts, ats: instants, ok: ints, refused: ints, limited: ints },
  {},
)

/** Stores lines of clients that belong to a team, up to MAX_LINES. */
export async function write(db: Database, lines: readonly Line[], counted: readonly Counted[]): Promise<void> {
  await db.inTransaction(async (connection) => {
    const clients = new Set([...lines, ...counted].map(({ client }) => client))
    const rows = await executeIn(connection, lock, { clients: [...clients] })
    const teams = new Map(rows.map(({ client, team }) => [client, team]))
    const keepTeams = <T extends { client: string }>(all: readonly T[]) =>
      all.flatMap((one) => (teams.has(one.client) ? [{ ...one, team: teams.get(one.client)! }] : []))
    const [kept, counts] = [keepTeams(lines), keepTeams(counted)]
    if (kept.length > 0) {
      await executeIn(connection, storeLines, {
        teams: kept.map(({ team }) => team),
        clients: kept.map(({ client }) => client),
        requestIds: kept.map(({ requestId }) => requestId),
        ats: kept.map(({ at }) => at),
        methods: kept.map(({ method }) => method),
        routes: kept.map(({ route }) => route),
        statuses: kept.map(({ status }) => status),
        errors: kept.map(({ error }) => error),
        messages: kept.map(({ message }) => message),
        durations: kept.map(({ ms }) => ms),
        members: kept.map(({ member }) => member),
      })
    }
    if (counts.length > 0) {
      await executeIn(connection, storeCounts, {
        teams: counts.map(({ team }) => team),
        clients: counts.map(({ client }) => client),
        ats: counts.map(({ at }) => at),
        ok: counts.map(({ ok }) => ok),
        refused: counts.map(({ refused }) => refused),
        limited: counts.map(({ limited }) => limited),
      })
    }
  })
}
