import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { internal } from '../kernel/endpoint.ts'
import { teamPeople } from '../kernel/policies.ts'
import { DAY_SECONDS } from '../kernel/time.ts'
import { lastErrorOf, refused } from './requests.ts'
import { idOr } from './shapes.ts'
import { teamOfApp } from './teams/team-of.ts'
import { delivery } from './webhook/delivery.ts'
import { listBy } from './webhook/delivery-lists.ts'

/** The most recent refusals of a team, among which the last error is looked up. */
const MAX_LOOKED_AT = 1_000
const MAX_DELIVERIES = 20

export const health = internal('dev:read', teamPeople, {
  summary: 'How an app does: its requests of a day, its last error, and its stores',
  fails: ['ownAppUnknown'],
})
  .input(z.object({ app: idOr('ownAppUnknown') }))
  .output(
    z.object({
      requests: z
        .object({ ok: z.int(), refused: z.int(), limited: z.int() })
        .meta({ description: 'In the last 24 hours; 412 counts as ok' }),
      lastError: refused
        .nullable()
        .meta({ description: `The newest but 412 among the team's last ${MAX_LOOKED_AT} refusals` }),
      webhook: z
        .object({
          url: z.string().nullable(),
          failed: z.int().meta({ description: `Of the newest ${MAX_DELIVERIES} deliveries` }),
          deliveries: z.int().meta({ description: `At most ${MAX_DELIVERIES}` }),
          last: delivery
            .pick({ state: true, createdAt: true })
            .nullable()
            .meta({ description: 'The newest finished one' }),
        })
        .nullable()
        .meta({ description: 'Null for teams of level hobby' }),
      storage: z.object({
        stores: z.int().meta({ description: 'Clubs in which the app stores something' }),
        bytes: z.int(),
        fullest: z.int().meta({ description: 'Bytes of the largest store' }),
        limit: z.int().meta({ description: 'What the app may store in a club' }),
      }),
    }),
  )
  .query(async ({ ctx, input: { app } }) => {
    const team = await teamOfApp(ctx, app)
    const { db } = ctx.core
    const clients = await db.client.findMany({ where: { appId: app }, select: { id: true } })
    const ids = clients.map(({ id }) => id)
    const [requests, lastError, webhook, storage] = await Promise.all([
      requestsOf(ctx, team, ids),
      lastErrorOf(ctx, { team, clients: ids, among: MAX_LOOKED_AT }),
      webhookOf(ctx, app),
      storageOf(ctx, app),
    ])
    return { requests, lastError, webhook, storage }
  })

/** Rows by hour: those by minute are 60 times as many. */
async function requestsOf({ core: { db, now } }: Context, team: string, clients: readonly string[]) {
  const { _sum } = await db.clientUsage.aggregate({
    where: {
      ...{ teamId: team, span: 'hour', clientId: { in: [...clients] } },
      at: { gt: new Date(now() - DAY_SECONDS * 1_000) },
    },
    _sum: { ok: true, refused: true, limited: true },
  })
  return { ok: _sum.ok ?? 0, refused: _sum.refused ?? 0, limited: _sum.limited ?? 0 }
}

async function webhookOf({ core: { db } }: Context, id: string) {
  const select = { webhookUrl: true, team: { select: { level: true } } }
  const { webhookUrl: url, team } = await db.app.findUniqueOrThrow({ where: { id }, select })
  if (team.level !== 'developer') return null
  const { statement, values } = listBy({}, [id, MAX_DELIVERIES, 0])
  const newest = await db.execute(statement, values)
  const failed = newest.filter(({ state }) => state === 'failed').length
  const last = newest.find(({ state }) => state !== 'pending')
  return {
    url,
    failed,
    deliveries: newest.length,
    last: last ? { state: last.state, createdAt: last.createdAt } : null,
  }
}

async function storageOf({ core: { db, storageQuotaBytes: limit } }: Context, appId: string) {
  const { _count, _sum, _max } = await db.storageUsage.aggregate({
    where: { appId, bytes: { gt: 0 } },
    ...{ _count: true, _sum: { bytes: true }, _max: { bytes: true } },
  })
  return { stores: _count, bytes: Number(_sum.bytes ?? 0), fullest: Number(_max.bytes ?? 0), limit }
}
