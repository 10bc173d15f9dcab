import type { Database } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { instants, ints, nullable, statement, text, texts } from '../../prisma/pg/statement.ts'
import type { Line } from './bounded-rows.ts'
import { keepNewest, storeBounded } from './bounded-rows.ts'

/** `at` is a Unix time in milliseconds. */
const requestColumns = {
  clientId: 'text',
  requestId: 'text',
  at: 'timestamptz',
  method: 'text',
  route: 'text',
  status: 'int',
  ms: 'int',
} as const
/** `member` as `memberMarks` makes it, null without a member. */
const answeredColumns = { ...requestColumns, member: 'text' } as const
const refusedColumns = { ...answeredColumns, error: 'text', message: 'text' } as const
const signInColumns = {
  ...requestColumns,
  error: 'text',
  message: 'text',
  redirectUri: 'text',
  scopes: 'text',
} as const

export type Answered = Line<typeof answeredColumns> & { clientId: string }
export type Refused = Line<typeof refusedColumns> & { clientId: string }
export type SignIn = Line<typeof signInColumns> & { clientId: string }

export interface Counted {
  clientId: string
  /** The beginning of the minute, in Unix milliseconds. */
  at: number
  ok: number
  refused: number
  limited: number
}

export interface Written {
  refused: readonly Refused[]
  answered: readonly Answered[]
  /** Failed ones. */
  signIns: readonly SignIn[]
  counts: readonly Counted[]
}

/** Refused requests stored per team and minute. */
export const MAX_REFUSED = 200
/** Successful ones stored per app and minute, and of each app in all. */
export const MAX_ANSWERED = 20
export const ANSWERED_KEPT = 1_000
/** Failed sign-ins stored per client and minute, and of each client in all: anybody may send them in its name. */
export const MAX_SIGN_INS = 5
export const SIGN_INS_KEPT = 200

/**
 * The clients' teams; the platform's clients have none, nor do removed clients. Locks each team, so that other nodes count its
 * lines after these, and so that its removal waits, as both would lock its rows.
 */
const lock = statement(
  'request_log_lock',
  `SELECT client.id AS client, client."appId" AS app, team.id AS team
  FROM "Client" client JOIN "Team" team ON team.id = client."teamId"
  WHERE client.id = ANY ($clients::text[]) ORDER BY team.id FOR NO KEY UPDATE OF team`,
  { clients: texts },
  { client: text, app: nullable(text), team: text },
)

const storeRefused = storeBounded({
  name: 'request_log_store',
  table: 'RefusedRequest',
  columns: { teamId: 'text', ...refusedColumns },
  per: 'teamId',
  minute: MAX_REFUSED,
})

const storeAnswered = storeBounded({
  name: 'request_log_answered',
  table: 'AnsweredRequest',
  columns: { teamId: 'text', appId: 'text', ...answeredColumns },
  per: 'appId',
  minute: MAX_ANSWERED,
})
const keepAnswered = keepNewest('request_log_keep', { table: 'AnsweredRequest', per: 'appId', kept: ANSWERED_KEPT })

const storeSignIns = storeBounded({
  name: 'request_log_sign_ins',
  table: 'FailedSignIn',
  columns: { teamId: 'text', ...signInColumns },
  per: 'clientId',
  minute: MAX_SIGN_INS,
})
const keepSignIns = keepNewest('request_log_keep_sign_ins', {
  table: 'FailedSignIn',
  per: 'clientId',
  kept: SIGN_INS_KEPT,
})

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

/** Stores lines and counts of clients that belong to a team, successes also to an app; each up to its bound. */
export async function write(db: Database, { refused, answered, signIns, counts }: Written): Promise<void> {
  await db.inTransaction(async (connection) => {
    const clients = new Set([...refused, ...answered, ...signIns, ...counts].map(({ clientId }) => clientId))
    const rows = await executeIn(connection, lock, { clients: [...clients] })
    const owners = new Map(rows.map(({ client, app, team }) => [client, { teamId: team, appId: app }]))
    const withTeam = <T extends { clientId: string }>(all: readonly T[]) =>
      all.flatMap((one) => {
        const owner = owners.get(one.clientId)
        return owner ? [{ ...one, ...owner }] : []
      })
    await storeRefused(connection, withTeam(refused))
    const withApp = withTeam(answered).flatMap(({ appId, ...one }) => (appId === null ? [] : [{ ...one, appId }]))
    await storeAnswered(connection, withApp)
    await keepAnswered(
      connection,
      withApp.map(({ appId }) => appId),
    )
    const failed = withTeam(signIns)
    await storeSignIns(connection, failed)
    await keepSignIns(
      connection,
      failed.map(({ clientId }) => clientId),
    )
    const counted = withTeam(counts)
    if (counted.length === 0) return
    await executeIn(connection, storeCounts, {
      teams: counted.map(({ teamId }) => teamId),
      clients: counted.map(({ clientId }) => clientId),
      ats: counted.map(({ at }) => at),
      ok: counted.map(({ ok }) => ok),
      refused: counted.map((one) => one.refused),
      limited: counted.map(({ limited }) => limited),
    })
  })
}
