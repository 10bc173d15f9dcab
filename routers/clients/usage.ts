import { z } from 'zod'
import { isPostgresText } from '../kernel/access.ts'
import type { Context, Core } from '../kernel/context.ts'
import { internal } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import { teamPeople } from '../kernel/policies.ts'
import { toUnix } from '../kernel/time.ts'
import { replaysOf } from './replays.ts'
import { REQUESTS_A_MINUTE } from './request-limits.ts'
import { roleIn } from './teams/team-of.ts'

/** The largest stores. */
const MAX_STORES = 100
/** The busiest clients. A team may have registered and removed thousands in 30 days. */
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
      team: z.string().refine(isPostgresText, withError('teamUnknown')),
      client: z.string().refine(isPostgresText).optional().meta({ description: 'Counts only this client' }),
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
  .query(async ({ ctx, input: { team, client, by } }) => {
    await roleIn(ctx, team)
    const found = await ctx.core.db.team.findUnique({ where: { id: team }, select: { level: true } })
    if (!found) throw errors.teamUnknown()
    const [requests, replays, storage] = await Promise.all([
      requestsOf(ctx, team, by, client),
      replaysOf(ctx.core, { team, client: client ?? null }),
      storageOf(ctx, team),
    ])
    return { limit: REQUESTS_A_MINUTE[found.level], ...requests, replays, ...storage }
  })

const HOUR_MS = 3_600_000
type Span = 'minute' | 'hour'
const SPAN_MS = { minute: 24 * HOUR_MS, hour: 30 * 24 * HOUR_MS }

const sums = { ok: true, refused: true, limited: true } as const
type Sums = Record<keyof typeof sums, number | null>
const numbers = ({ ok, refused, limited }: Sums) => ({ ok: ok ?? 0, refused: refused ?? 0, limited: limited ?? 0 })
type Counts = ReturnType<typeof numbers>

async function requestsOf({ core }: Context, team: string, by: Span, client: string | undefined) {
  const { clientUsage } = core.db
  const where = { teamId: team, ...(client !== undefined && { clientId: client }) }
  const since = (ms: number) => ({ gt: new Date(core.now() - ms) })
  const span = { ...where, span: by, at: since(SPAN_MS[by]) }
  const hour = { ...where, span: 'minute' as const, at: since(HOUR_MS) }
  const [lastHour, counts, clients] = await Promise.all([
    clientUsage.aggregate({ where: hour, _sum: sums }),
    clientUsage.groupBy({ by: 'at', where: span, _sum: sums, orderBy: { at: 'asc' } }),
    busiestOf(core, { team, by, client: client ?? null }),
  ])
  return {
    lastHour: numbers(lastHour._sum),
    counts: counts.map(({ at, _sum }) => ({ at: toUnix(at), ...numbers(_sum) })),
    clients,
  }
}

type Busy = Counts & { client: string; name: string | null }

const busiestOf = ({ db, now }: Core, { team, by, client }: { team: string; by: Span; client: string | null }) =>
  db.$queryRaw<Busy[]>`
    SELECT "clientId" AS client, "Client".name, sum(ok)::int AS ok, sum(refused)::int AS refused, sum(limited)::int AS limited
    FROM "ClientUsage" LEFT JOIN "Client" ON "Client".id = "clientId" AND "Client"."teamId" = "ClientUsage"."teamId"
    WHERE "ClientUsage"."teamId" = ${team} AND span = ${by}::"UsageSpan" AND at > ${new Date(now() - SPAN_MS[by])}
      AND (${client}::text IS NULL OR "clientId" = ${client})
    GROUP BY "clientId", "Client".name ORDER BY sum(ok + refused + limited) DESC, "clientId" LIMIT ${MAX_CLIENTS}`

async function storageOf({ core }: Context, team: string) {
  const { app, storageUsage } = core.db
  const where = { app: { teamId: team }, bytes: { gt: 0 } }
  const [apps, totals, largest] = await Promise.all([
    app.findMany({
      where: { teamId: team },
      select: { id: true, name: true },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
    }),
    storageUsage.groupBy({ by: 'appId', where, _sum: { bytes: true }, _count: true }),
    storageUsage.findMany({
      where,
      orderBy: [{ bytes: 'desc' }, { appId: 'asc' }, { clubId: 'asc' }],
      take: MAX_STORES,
    }),
  ])
  const byApp = new Map(totals.map((one) => [one.appId, { stores: one._count, bytes: Number(one._sum.bytes) }]))
  return {
    apps: apps.map(({ id, name }) => ({ app: id, name, ...(byApp.get(id) ?? { stores: 0, bytes: 0 }) })),
    storage: largest.map(({ appId, clubId, bytes }) => ({
      app: appId,
      club: clubId,
      bytes: Number(bytes),
      limit: core.storageQuotaBytes,
    })),
  }
}
