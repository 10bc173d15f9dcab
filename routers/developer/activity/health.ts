import { z } from 'zod'
import { instants, int, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import type { Context } from '../../kernel/context.ts'
import { internal } from '../../kernel/endpoint.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { HOUR_MS } from '../../kernel/time.ts'
import { teamOfApp } from '../access/roles.ts'
import { idOr } from '../shared/schemas.ts'
import { delivery } from '../webhook/delivery.ts'
import { listDeliveries } from '../webhook/delivery-lists.ts'
import { firstSteps, readFirstSteps } from './first-steps.ts'
import { findLastError, refused } from './logged-requests.ts'

/** The most recent refusals of a team, among which the last error is looked up. */
const MAX_LOOKED_AT = 1_000
const MAX_DELIVERIES = 20

export const health = internal('dev:read', teamPeople, {
  summary: 'How an app does: its first steps, its requests of a day, its last error, and its stores',
  fails: ['ownAppUnknown'],
})
  .input(z.object({ app: idOr('ownAppUnknown') }))
  .output(
    z.object({
      steps: firstSteps.meta({ description: 'What the way from the first client to production has' }),
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
    const [steps, requests, lastError, webhook, storage] = await Promise.all([
      readFirstSteps(ctx, { app, team }),
      countRequests(ctx, team, app),
      findLastError(ctx, { team, app, among: MAX_LOOKED_AT }),
      readWebhook(ctx, app),
      measureStorage(ctx, app),
    ])
    return { steps, requests, lastError, webhook, storage }
  })

const statements = {
  /**
   * Rows by hour: those by minute are 60 times as many. `hours`: each is looked up for each client of the app. A range of
   * time read the rows of all clients of the team: with 184, the page took PostgreSQL 1.7 times as long.
   */
  requests: statement(
    'app_requests',
    `SELECT coalesce(sum(ok), 0)::int8 AS ok, coalesce(sum(refused), 0)::int8 AS refused,
        coalesce(sum(limited), 0)::int8 AS limited
      FROM "ClientUsage" WHERE "teamId" = $team AND span = 'hour' AND at = ANY ($hours::timestamptz[])
        AND "clientId" = ANY (ARRAY(SELECT id FROM "Client" WHERE "appId" = $app))`,
    { team: text, app: text, hours: instants },
    { ok: int, refused: int, limited: int },
  ),
  webhook: statement(
    'app_webhook',
    `SELECT "webhookUrl" AS url, level FROM "App" app JOIN "Team" team ON team.id = "teamId" WHERE app.id = $app`,
    { app: text },
    { url: nullable(text), level: oneOf('hobby', 'developer') },
  ),
  storage: statement(
    'app_storage',
    `SELECT count(*) AS stores, coalesce(sum(bytes), 0)::int8 AS bytes, coalesce(max(bytes), 0) AS fullest
      FROM "StorageUsage" WHERE "appId" = $app AND bytes > 0`,
    { app: text },
    { stores: int, bytes: int, fullest: int },
  ),
}

async function countRequests({ core: { db, now } }: Context, team: string, app: string) {
  const at = now()
  const hours = Array.from({ length: 24 }, (_, n) => new Date(at - (at % HOUR_MS) - n * HOUR_MS))
  const [sums] = await db.execute(statements.requests, { team, app, hours })
  return sums!
}

async function readWebhook({ core: { db } }: Context, id: string) {
  const [app] = await db.execute(statements.webhook, { app: id })
  if (app?.level !== 'developer') return null
  const newest = await listDeliveries(db, {}, { app: id, limit: MAX_DELIVERIES, offset: 0 })
  const failed = newest.filter(({ state }) => state === 'failed').length
  const last = newest.find(({ state }) => state !== 'pending')
  return {
    url: app.url,
    failed,
    deliveries: newest.length,
    last: last ? { state: last.state, createdAt: last.createdAt } : null,
  }
}

async function measureStorage({ core: { db, storageQuotaBytes: limit } }: Context, app: string) {
  const [sums] = await db.execute(statements.storage, { app })
  return { ...sums!, limit }
}
