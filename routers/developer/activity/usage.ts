import { z } from 'zod'
import { instant, int, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { isPostgresText } from '../../kernel/access.ts'
import type { Context } from '../../kernel/context.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { DAY_MS, HOUR_MS, unix } from '../../kernel/time.ts'
import { roleIn } from '../access/roles.ts'
import { idOr, typed } from '../shared/schemas.ts'
import { listReplays } from './replays.ts'

/** Requests per minute of a team, by level; sandbox clients have no limit. */
export const REQUESTS_A_MINUTE = { hobby: 60, developer: 10_000 } as const

/** How many of the largest stores are listed. */
const MAX_STORES = 100
/** The busiest clients, and apps. A team may have registered and removed thousands in 30 days. */
const MAX_CLIENTS = 100

const counts = {
  ok: z.int(),
  refused: z.int().meta({ description: 'Answered with 400 or above, except those in `limited`' }),
  limited: z.int().meta({ description: 'Answered with 429' }),
}
const bytes = z.int().meta({ description: 'Bytes of the stored values' })

export const usage = internal('dev:read', teamPeople, {
  summary: 'How many requests the clients of a team made, and what its apps store',
  fails: ['teamUnknown'],
})
  .input(
    z.object({
      team: idOr('teamUnknown'),
      app: idOr('ownAppUnknown')
        .optional()
        .meta({ description: 'Counts only the clients of this app, and its stores' }),
      client: typed.refine(isPostgresText).optional().meta({ description: 'Counts only this client' }),
      by: z
        .enum(['minute', 'hour'])
        .default('minute')
        .meta({ description: '`minute`: the last 24 hours; `hour`: the last 30 days' }),
    }),
  )
  .output(
    z.object({
      limit: z.int().meta({ description: 'Requests per minute, for all production clients of the team together' }),
      lastHour: z.object(counts),
      counts: z
        .array(z.object({ at: z.int().meta({ description: 'The beginning, in Unix seconds' }), ...counts }))
        .meta({ description: 'Oldest first, without minutes or hours that had no request' }),
      clients: z.array(z.object({ client: z.string(), name: z.string().nullable(), ...counts })).meta({
        description: `The same requests by client, the ${MAX_CLIENTS} busiest; without a name once it is removed`,
      }),
      byApp: z.array(z.object({ app: z.string().nullable(), name: z.string().nullable(), ...counts })).meta({
        description: `The same requests by app, the ${MAX_CLIENTS} busiest; null for clients that were removed`,
      }),
      replays: z.array(z.object({ client: z.string(), name: z.string(), consents: z.int() })).meta({
        description: 'How many consents ended in the last 30 days because a refresh token was replayed, the most first',
      }),
      apps: z.array(z.object({ app: z.string(), name: z.string(), stores: z.int(), bytes })),
      storage: z
        .array(
          z.object({
            app: z.string(),
            club: z.string(),
            bytes,
            limit: z.int().meta({ description: 'What the app may store in the club' }),
          }),
        )
        .meta({ description: `The ${MAX_STORES} largest stores of its apps` }),
    }),
  )
  .query(async ({ ctx, input: { team, client = null, app = null, by } }) => {
    await roleIn(ctx, team)
    const [found] = await ctx.core.db.execute(statements.level, { team })
    if (!found) throw errors.teamUnknown()
    const [requests, replays, storage] = await Promise.all([
      countRequests(ctx, { team, client, app, by }),
      listReplays(ctx.core, { team, client, app }),
      measureStorage(ctx, team, app),
    ])
    return { limit: REQUESTS_A_MINUTE[found.level], ...requests, replays, ...storage }
  })

type Span = 'minute' | 'hour'
const SPAN_MS = { minute: DAY_MS, hour: 30 * DAY_MS }

const sums = { ok: int, refused: int, limited: int }
const SUMS = ['ok', 'refused', 'limited'].map((name) => `coalesce(sum(${name}), 0)::int8 AS ${name}`).join(', ')

const counted = {
  team: text,
  client: nullable(text),
  app: nullable(text),
  span: oneOf('minute', 'hour'),
  since: instant,
}
const COUNTED = `"teamId" = $team AND ($client::text IS NULL OR "clientId" = $client)
  AND ($app::text IS NULL OR "clientId" = ANY (ARRAY(SELECT id FROM "Client" WHERE "appId" = $app))) AND span = $span::"UsageSpan" AND at > $since::timestamptz`

const statements = {
  level: statement(
    'usage_level',
    'SELECT level FROM "Team" WHERE id = $team',
    { team: text },
    { level: oneOf('hobby', 'developer') },
  ),
  all: statement('usage', `SELECT ${SUMS} FROM "ClientUsage" WHERE ${COUNTED}`, counted, sums),
  byTime: statement(
    'usage_by_time',
    `SELECT ${unix('at')} AS at, ${SUMS} FROM "ClientUsage" usage WHERE ${COUNTED} GROUP BY usage.at ORDER BY usage.at`,
    counted,
    { at: int, ...sums },
  ),
  byClient: statement(
    'usage_by_client',
    `SELECT usage.*, name FROM (SELECT "clientId" AS client, ${SUMS} FROM "ClientUsage" WHERE ${COUNTED}
        GROUP BY "clientId" ORDER BY sum(ok + refused + limited) DESC, "clientId" LIMIT ${MAX_CLIENTS}) usage
      LEFT JOIN "Client" ON "Client".id = client AND "teamId" = $team ORDER BY ok + refused + limited DESC, client`,
    counted,
    { client: text, ...sums, name: nullable(text) },
  ),
  byApp: statement(
    'usage_by_app',
    `SELECT app.id AS app, app.name, ${SUMS} FROM (SELECT "clientId" AS client, ${SUMS} FROM "ClientUsage" WHERE ${COUNTED}
        GROUP BY "clientId") usage
      LEFT JOIN "Client" client ON client.id = usage.client AND client."teamId" = $team LEFT JOIN "App" app ON app.id = client."appId"
      GROUP BY app.id ORDER BY sum(ok + refused + limited) DESC, app.id LIMIT ${MAX_CLIENTS}`,
    counted,
    { app: nullable(text), name: nullable(text), ...sums },
  ),
  apps: statement(
    'usage_of_apps',
    `SELECT id AS app, name, count(bytes) AS stores, coalesce(sum(bytes), 0)::int8 AS bytes
      FROM "App" LEFT JOIN "StorageUsage" ON "appId" = id AND bytes > 0 WHERE "teamId" = $team
        AND ($app::text IS NULL OR id = $app)
      GROUP BY id ORDER BY name, id`,
    { team: text, app: nullable(text) },
    { app: text, name: text, stores: int, bytes: int },
  ),
  stores: statement(
    'usage_of_stores',
    `SELECT "appId" AS app, "clubId" AS club, bytes FROM "StorageUsage" JOIN "App" ON id = "appId"
      WHERE "teamId" = $team AND ($app::text IS NULL OR id = $app) AND bytes > 0 ORDER BY bytes DESC, "appId", "clubId" LIMIT ${MAX_STORES}`,
    { team: text, app: nullable(text) },
    { app: text, club: text, bytes: int },
  ),
}

interface Counting {
  team: string
  client: string | null
  app: string | null
  by: Span
}

async function countRequests({ core: { db, now } }: Context, { by, ...filter }: Counting) {
  const of = (span: Span, ms: number) => ({ ...filter, span, since: now() - ms })
  const [lastHour, counts, clients, byApp] = await Promise.all([
    db.execute(statements.all, of('minute', HOUR_MS)),
    db.execute(statements.byTime, of(by, SPAN_MS[by])),
    db.execute(statements.byClient, of(by, SPAN_MS[by])),
    db.execute(statements.byApp, of(by, SPAN_MS[by])),
  ])
  return { lastHour: lastHour[0]!, counts, clients, byApp }
}

async function measureStorage({ core: { db, storageQuotaBytes: limit } }: Context, team: string, app: string | null) {
  const [apps, stores] = await Promise.all([
    db.execute(statements.apps, { team, app }),
    db.execute(statements.stores, { team, app }),
  ])
  return { apps, storage: stores.map((store) => ({ ...store, limit })) }
}
