import type pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { openDatabase } from '../../../prisma/client.ts'
import type { Answer } from '../../process/service.ts'
import { dataDirectory, send, start } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'
import { pgClient } from '../../support/pg-client.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import type { Usage } from '../../support/storage-usage.ts'
import { counterAndSum } from '../../support/storage-usage.ts'
import { id } from '../../support/tenant.ts'
import { demoToken } from '../demo.ts'

/** Who writes where, by index. */
export interface Place {
  server?: number
  app?: number
  club?: number
  member?: number
}

/** Sends a request to a path below `/storage`. */
export type Send = (
  method: 'GET' | 'PUT' | 'DELETE',
  path: string,
  given?: { value?: unknown; headers?: Record<string, string> },
) => Promise<Answer>

const waiting = `WITH RECURSIVE waiting (pid) AS (
      SELECT $1::int UNION
      SELECT blocked.pid FROM pg_stat_activity blocked JOIN waiting ON waiting.pid = ANY (pg_blocking_pids(blocked.pid))
    ) SELECT count(*)::int - 1 AS count FROM waiting`

export type TwoServers = Awaited<ReturnType<typeof startTwo>>

/** Starts two processes of the service on one database with two apps and two clubs that share eight members. */
export async function startTwo(quotaBytes: number, atEnd: AtEnd) {
  const databaseUrl = inject('databaseUrl')
  const db = openDatabase(databaseUrl, () => {})
  atEnd(() => db.$disconnect())
  const clubs = [id('club'), id('club')]
  const apps = [id('app'), id('app')]
  const clients = [id('client'), id('client')]
  const members = Array.from({ length: 8 }, () => id('member'))
  const join = (member: number, club = 0) =>
    db.membership.create({ data: { organisationId: clubs[club]!, personId: members[member]! } })

  const team = id('team')
  const provider = id('provider')
  const kind = 'club'
  await db.organisation.create({ data: { id: provider, kind: 'provider', name: 'Provider' } })
  await db.organisation.createMany({ data: clubs.map((id) => ({ id, kind, name: 'Club' })) })
  const person = { firstName: 'M', lastName: 'M', email: 'm@example.org' }
  await db.person.createMany({ data: members.map((id) => ({ ...person, id })) })
  for (const member of members.keys()) for (const club of clubs.keys()) await join(member, club)
  await db.team.create({ data: { id: team, name: 'Team', level: 'developer' } })
  await db.app.createMany({ data: apps.map((id) => ({ id, name: 'App', teamId: team, providerId: provider })) })
  // Sandbox clients have no request limit.
  const client = { name: 'Client', teamId: team, environment: 'sandbox' as const }
  await db.client.createMany({ data: clients.map((id, i) => ({ ...client, id, appId: apps[i]! })) })

  const DATA_DIR = await dataDirectory(atEnd)
  // A statement that a test holds up may wait as long as a busy machine makes it.
  const url = new URL(databaseUrl)
  url.searchParams.set('options', '-c timezone=UTC -c statement_timeout=60s')
  const env = {
    DATA_DIR,
    DATABASE_URL: url.href,
    SECRETS_KEY,
    STORAGE_QUOTA_BYTES: String(quotaBytes),
    LOG_LEVEL: 'error',
    WEBHOOK_WORKER: 'false',
  }
  const servers = await Promise.all([start(env, { atEnd }), start(env, { atEnd })])
  const seen = servers.map(() => 0)

  return {
    db,
    apps,
    clubs,
    members,
    join,
    /** The error log lines of requests (5xx) since the last call. */
    failures(): string[] {
      return servers.flatMap((server, i) => {
        const lines = server
          .stdout()
          .split('\n')
          .filter((line) => line.startsWith('{'))
        const unseen = lines.slice(seen[i])
        seen[i] = lines.length
        // Others belong to no request, such as keys of other services on this database.
        const failed = unseen.map((line) => JSON.parse(line)).filter(({ status, refused }) => status ?? refused)
        return failed.map(({ status = 503, msg, err, reason }) => `${status}: ${msg ?? err?.message ?? reason}`)
      })
    },
    async sender({ server = 0, app = 0, club = 0, member = 0 }: Place): Promise<Send> {
      const claims = { member: members[member]!, organisation: clubs[club]!, client: clients[app]! }
      const authorization = `Bearer ${await demoToken(DATA_DIR, claims)}`
      return (method, path, { value, headers } = {}) =>
        send(servers[server]!.port, method, `/v1/storage/${path}`, {
          headers: { host: 'apps.localhost', authorization, ...headers },
          ...(value !== undefined && { body: { value } }),
        })
    },
    /** A connection for one test, closed at its end. */
    async connect(): Promise<pg.Client> {
      const connection = pgClient(databaseUrl)
      await connection.connect()
      onTestFinished(() => connection.end())
      return connection
    },
    /** Counts the connections that wait for `holder`, directly or indirectly. */
    async blockedBy(holder: pg.Client): Promise<number> {
      const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      const [row] = await db.$queryRawUnsafe<{ count: number }[]>(waiting, rows[0]!.pid)
      return row!.count
    },
    async usage(app = 0, club = 0): Promise<Usage> {
      const [row] = await db.$queryRawUnsafe<Usage[]>(counterAndSum, apps[app], clubs[club])
      return row!
    },
  }
}
