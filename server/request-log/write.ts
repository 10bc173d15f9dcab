import type { Database } from '../../prisma/client.ts'

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
const LOCK = `SELECT client.id AS client, team.id AS team FROM "Client" client JOIN "Team" team ON team.id = client."teamId"
  WHERE client.id = ANY ($1::text[]) ORDER BY team.id FOR NO KEY UPDATE OF team`

const KEEP = `WITH line AS (
    SELECT *, date_trunc('minute', at) AS minute,
      row_number() OVER (PARTITION BY team, date_trunc('minute', at) ORDER BY at) AS number
    FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::int[], $8::text[],
      $9::text[], $10::int[], $11::text[])
      AS given (team, client, "requestId", at, method, route, status, error, message, ms, member)
  ), kept AS (
    SELECT team, minute, (SELECT count(*) FROM "RefusedRequest"
      WHERE "teamId" = team AND at >= minute AND at < minute + interval '1 minute') AS lines
    FROM line GROUP BY team, minute
  )
  INSERT INTO "RefusedRequest" ("teamId", "clientId", "requestId", at, method, route, status, error, message, ms, member)
  SELECT team, client, "requestId", at, method, route, status, error, message, ms, member
  FROM line JOIN kept USING (team, minute) WHERE number + lines <= ${MAX_LINES} ORDER BY at`

const COUNT = `INSERT INTO "ClientUsage" ("teamId", span, at, "clientId", ok, refused, limited)
  SELECT team, span::"UsageSpan", date_trunc(span, at), client, sum(ok), sum(refused), sum(limited)
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::int[], $5::int[], $6::int[])
      AS given (team, client, at, ok, refused, limited), unnest('{minute,hour}'::text[]) AS span
  GROUP BY team, span, date_trunc(span, at), client
  ON CONFLICT ("teamId", span, at, "clientId") DO UPDATE SET ok = "ClientUsage".ok + excluded.ok,
    refused = "ClientUsage".refused + excluded.refused, limited = "ClientUsage".limited + excluded.limited`

/** Stores lines of clients that belong to a team, up to MAX_LINES. */
export async function write(db: Database, lines: readonly Line[], counted: readonly Counted[]): Promise<void> {
  await db.inTransaction(async (connection) => {
    const clients = new Set([...lines, ...counted].map(({ client }) => client))
    const { rows } = await connection.query<{ client: string; team: string }>(LOCK, [[...clients]])
    const teams = new Map(rows.map(({ client, team }) => [client, team]))
    const ofTeams = <T extends { client: string }>(all: readonly T[]) =>
      all.flatMap((one) => (teams.has(one.client) ? [{ ...one, team: teams.get(one.client)! }] : []))
    const [kept, counts] = [ofTeams(lines), ofTeams(counted)]
    if (kept.length > 0) {
      await connection.query(KEEP, [
        kept.map(({ team }) => team),
        kept.map(({ client }) => client),
        kept.map(({ requestId }) => requestId),
        kept.map(({ at }) => new Date(at)),
        kept.map(({ method }) => method),
        kept.map(({ route }) => route),
        kept.map(({ status }) => status),
        kept.map(({ error }) => error),
        kept.map(({ message }) => message),
        kept.map(({ ms }) => ms),
        kept.map(({ member }) => member),
      ])
    }
    if (counts.length > 0) {
      await connection.query(COUNT, [
        counts.map(({ team }) => team),
        counts.map(({ client }) => client),
        counts.map(({ at }) => new Date(at)),
        counts.map(({ ok }) => ok),
        counts.map(({ refused }) => refused),
        counts.map(({ limited }) => limited),
      ])
    }
  })
}
