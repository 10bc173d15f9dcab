import { z } from 'zod'
import { bigint, instant, int, nullable, statement, text, texts } from '../../../prisma/pg/statement.ts'
import { isPostgresText } from '../../kernel/access.ts'
import { memberMarks } from '../../kernel/cipher.ts'
import type { Context } from '../../kernel/context.ts'
import { internal } from '../../kernel/endpoint.ts'
import { page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { unixMs } from '../../kernel/time.ts'
import { router } from '../../kernel/trpc.ts'
import { roleIn } from '../access/roles.ts'
import { idOr, typed } from '../shared/schemas.ts'

/** A caller may choose the id of its requests: the newest are listed. */
const MAX_OF_AN_ID = 50

export const refused = z.object({
  requestId: z.string(),
  at: z.iso.datetime().meta({ description: 'When it arrived, with milliseconds' }),
  client: z.string(),
  clientName: z.string().nullable().meta({ description: 'Null for a client that was removed' }),
  method: z.string(),
  route: z
    .string()
    .nullable()
    .meta({ description: 'The pattern, as `/storage/{collection}/{key}`; null where there is no endpoint' }),
  status: z.int(),
  error: z.string().meta({ description: 'The name of the error, as in the error catalogue' }),
  message: z
    .string()
    .nullable()
    .meta({ description: 'The sentence of the response; null where it depends on what was sent, which is not stored' }),
  ms: z.int().meta({ description: 'Duration until the response, in milliseconds' }),
})

const team = idOr('teamUnknown')
const status = z.int().min(400).max(599)

/** A conditional write that lost is the answer that the app asked for. */
const EXPECTED = 412
/** Time and number of a page's last row. */
const CURSOR = /^(\d{1,14})-(\d{1,18})$/

const columns = {
  id: text,
  ms: int,
  requestId: text,
  client: text,
  clientName: nullable(text),
  method: text,
  route: nullable(text),
  status: int,
  error: text,
  message: nullable(text),
  took: int,
}

const select = `SELECT refused.id::text, ${unixMs('at')} AS ms, "requestId", "clientId" AS client,
    client.name AS "clientName", method, route, status, error, message, ms AS took
  FROM "RefusedRequest" refused LEFT JOIN "Client" client ON client.id = "clientId" AND client."teamId" = refused."teamId"
  WHERE refused."teamId" = $team`
const newestFirst = 'ORDER BY at DESC, refused.id DESC'

const statements = {
  /** Each filter is null where it is not asked for. */
  list: statement(
    'refused_requests',
    `${select} AND ($client::text IS NULL OR "clientId" = $client)
        AND ($app::text IS NULL OR "clientId" = ANY (ARRAY(SELECT id FROM "Client" WHERE "appId" = $app))) AND ($status::int4 IS NULL OR status = $status)
        AND ($notStatus::int4 IS NULL OR status <> $notStatus) AND ($members::text[] IS NULL OR member = ANY ($members::text[]))
        AND ($method::text IS NULL OR method = $method) AND ($route::text IS NULL OR route = $route)
        AND (at, refused.id) < (coalesce($beforeAt::timestamptz, 'infinity'), coalesce($beforeId::int8, 0))
        AND (at, refused.id) > (coalesce($afterAt::timestamptz, '-infinity'), coalesce($afterId::int8, 0))
      ${newestFirst} LIMIT $limit::int8`,
    {
      team: text,
      app: nullable(text),
      client: nullable(text),
      status: nullable(int),
      notStatus: nullable(int),
      members: nullable(texts),
      method: nullable(text),
      route: nullable(text),
      beforeAt: nullable(instant),
      beforeId: nullable(bigint),
      afterAt: nullable(instant),
      afterId: nullable(bigint),
      limit: int,
    },
    columns,
  ),
  byId: statement(
    'refused_requests_of_id',
    `${select} AND "requestId" = $requestId ${newestFirst} LIMIT ${MAX_OF_AN_ID}`,
    { team: text, requestId: text },
    columns,
  ),
  lastError: statement(
    'last_error_of_app',
    `${select} AND (at, refused.id) = (SELECT at, id FROM (SELECT at, id, "clientId", status FROM "RefusedRequest" WHERE "teamId" = $team
        ORDER BY at DESC, id DESC LIMIT $among::int8) newest
      WHERE "clientId" IN (SELECT id FROM "Client" WHERE "appId" = $app) AND status <> ${EXPECTED}
      ORDER BY at DESC, id DESC LIMIT 1)`,
    { team: text, app: text, among: int },
    columns,
  ),
}

type Row = ReturnType<(typeof statements.list)['decode']>

const shown = ({ id: _, ms, took, ...row }: Row) => ({ ...row, at: new Date(ms).toISOString(), ms: took })

const toCursor = (row: Row | undefined) => (row ? `${row.ms}-${row.id}` : null)

function parseCursor(cursor: string | undefined) {
  const [, ms, id] = CURSOR.exec(cursor ?? '') ?? []
  return ms === undefined ? { at: null, id: null } : { at: Number(ms), id: BigInt(id!) }
}

/** The newest refusal of an app's clients that is an error, among the newest of the team: its index does not have the client. */
export async function findLastError(ctx: Context, { team, app, among }: { team: string; app: string; among: number }) {
  const [found] = await ctx.core.db.execute(statements.lastError, { team, app, among })
  return found ? shown(found) : null
}

const list = internal('dev:read', teamPeople, {
  summary: 'The refused requests of a team in the last 7 days, newest first',
  fails: ['teamUnknown'],
})
  .input(
    z.object({
      team,
      app: idOr('ownAppUnknown').optional().meta({ description: 'Only of the clients of this app' }),
      client: typed.refine(isPostgresText).optional(),
      status: status.optional(),
      errors: z.boolean().optional().meta({ description: 'Without 412, which a conditional write expects' }),
      member: typed.max(255).refine(isPostgresText).optional().meta({ description: 'The id of a member' }),
      method: typed.max(10).optional(),
      route: typed.max(200).refine(isPostgresText).optional().meta({ description: 'As in `route` of an item' }),
      after: z
        .string()
        .regex(CURSOR)
        .optional()
        .meta({ description: '`newest` of an earlier answer: only what came since' }),
      before: z.string().regex(CURSOR).optional().meta({ description: '`next` of the previous page' }),
      limit: page.limit,
    }),
  )
  .output(
    z.object({
      items: z.array(refused),
      next: z.string().nullable(),
      newest: z.string().nullable().meta({ description: 'For `after`; null without items' }),
    }),
  )
  .query(async ({ ctx, input }) => {
    const { team, app, client, status, errors, member, method, route, before, after, limit } = input
    await roleIn(ctx, team)
    const [last, first] = [parseCursor(before), parseCursor(after)]
    const rows = await ctx.core.db.execute(statements.list, {
      team,
      app: app ?? null,
      client: client ?? null,
      status: status ?? null,
      notStatus: status === undefined && errors ? EXPECTED : null,
      members: member === undefined ? null : memberMarks(ctx.core.cipher, member),
      method: method ?? null,
      route: route ?? null,
      beforeAt: last.at,
      beforeId: last.id,
      afterAt: first.at,
      afterId: first.id,
      limit: limit + 1,
    })
    const items = rows.slice(0, limit)
    const next = rows.length > limit ? items.at(-1) : undefined
    return { items: items.map(shown), next: toCursor(next), newest: toCursor(items[0]) }
  })

const get = internal('dev:read', teamPeople, {
  summary: 'The refused requests of a team with a request id, newest first',
  fails: ['teamUnknown'],
})
  .input(z.object({ team, requestId: typed.refine(isPostgresText) }))
  .output(z.object({ items: z.array(refused) }))
  .query(async ({ ctx, input: { team, requestId } }) => {
    await roleIn(ctx, team)
    const rows = await ctx.core.db.execute(statements.byId, { team, requestId })
    return { items: rows.map(shown) }
  })

export const requests = router({ list, get })
