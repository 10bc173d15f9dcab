import { z } from 'zod'
import { bigint, bool, instant, int, nullable, statement, text, texts } from '../../../prisma/pg/statement.ts'
import type { Context } from '../../kernel/context.ts'
import { unixMs } from '../../kernel/time.ts'

/** A caller may choose the id of its requests: the newest are listed. */
const MAX_OF_AN_ID = 50

/** A conditional write that lost is the answer that the app asked for. */
export const EXPECTED = 412

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

export const logged = refused.extend({
  error: refused.shape.error.nullable().meta({ description: 'Null for a success' }),
})

const refusedColumns = {
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
const columns = { ...refusedColumns, error: nullable(text) }

const read = `SELECT logged.id::text, ${unixMs('at')} AS ms, "requestId", "clientId" AS client,
    client.name AS "clientName", method, route, status, error, message, ms AS took`
const named = `LEFT JOIN "Client" client ON client.id = "clientId" AND client."teamId" = logged."teamId"`

const stored = '"teamId", id, at, "clientId", "requestId", method, route, status, ms'
const fields = {
  RefusedRequest: `${stored}, error, message`,
  AnsweredRequest: `${stored}, NULL::text AS error, NULL::text AS message`,
}

/** The newest rows of a team in these tables, for each of which there is a condition. */
function select(conditions: Readonly<Record<keyof typeof fields, string>>, limit: string) {
  const newest = `ORDER BY at DESC, id DESC LIMIT ${limit}`
  const parts = Object.entries(fields).map(
    ([table, list]) =>
      `(SELECT ${list} FROM "${table}" WHERE "teamId" = $team AND ${conditions[table as keyof typeof fields]} ${newest})`,
  )
  return `${read} FROM (${parts.join('\nUNION ALL ')}) logged ${named} ORDER BY at DESC, logged.id DESC LIMIT ${limit}`
}

/** Each filter is null where it is not asked for. */
const filters = `($client::text IS NULL OR "clientId" = $client)
  AND ($app::text IS NULL OR "clientId" = ANY (ARRAY(SELECT id FROM "Client" WHERE "appId" = $app))) AND ($status::int4 IS NULL OR status = $status)
  AND ($method::text IS NULL OR method = $method) AND ($route::text IS NULL OR route = $route)
  AND (at, id) < (coalesce($beforeAt::timestamptz, 'infinity'), coalesce($beforeId::int8, 0))
  AND (at, id) > (coalesce($afterAt::timestamptz, '-infinity'), coalesce($afterId::int8, 0))`
const memberFilter = '($members::text[] IS NULL OR member = ANY ($members::text[]))'

export const statements = {
  list: statement(
    'logged_requests',
    select(
      {
        RefusedRequest: `${filters} AND ${memberFilter} AND ($notStatus::int4 IS NULL OR status <> $notStatus)`,
        AnsweredRequest: `$successes::bool AND ${filters} AND ${memberFilter}`,
      },
      '$limit::int8',
    ),
    {
      team: text,
      app: nullable(text),
      client: nullable(text),
      successes: bool,
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
    'logged_requests_of_id',
    select(
      { RefusedRequest: '"requestId" = $requestId', AnsweredRequest: '"requestId" = $requestId' },
      String(MAX_OF_AN_ID),
    ),
    { team: text, requestId: text },
    columns,
  ),
  lastError: statement(
    'last_error_of_app',
    `${read} FROM "RefusedRequest" logged ${named} WHERE logged."teamId" = $team
      AND (at, logged.id) = (SELECT at, id FROM (SELECT at, id, "clientId", status FROM "RefusedRequest" WHERE "teamId" = $team
        ORDER BY at DESC, id DESC LIMIT $among::int8) newest
      WHERE "clientId" IN (SELECT id FROM "Client" WHERE "appId" = $app) AND status <> ${EXPECTED}
      ORDER BY at DESC, id DESC LIMIT 1)`,
    { team: text, app: text, among: int },
    refusedColumns,
  ),
}

export const toItem = <R extends { id: string; ms: number; took: number }>({ id: _, ms, took, ...row }: R) => ({
  ...row,
  at: new Date(ms).toISOString(),
  ms: took,
})

/** The newest refusal of an app's clients that is an error, among the newest of the team: its index does not have the client. */
export async function findLastError(ctx: Context, { team, app, among }: { team: string; app: string; among: number }) {
  const [found] = await ctx.core.db.execute(statements.lastError, { team, app, among })
  return found ? toItem(found) : null
}
