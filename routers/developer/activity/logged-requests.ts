import { z } from 'zod'
import {
  bigint,
  bool,
  instant,
  int,
  jsonStrings,
  listSql,
  nullable,
  oneOf,
  statement,
  text,
  texts,
} from '../../../prisma/pg/statement.ts'
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
  error: refused.shape.error.nullable().meta({
    description: 'Null for a success; of a failed sign-in the error of OAuth, as `invalid_scope`',
  }),
  sent: z
    .object({ redirectUri: z.string().nullable(), scopes: z.array(z.string()) })
    .nullable()
    .meta({
      description:
        'Of a failed sign-in: the redirect URI without query and fragment, and the scopes, each cut; else null',
    }),
})

export const registrations = z
  .record(z.string(), z.object({ redirectUris: z.array(z.string()), scopes: z.array(z.string()) }))
  .meta({ description: 'What the clients of failed sign-ins have registered now, by client' })

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
const columns = {
  ...refusedColumns,
  error: nullable(text),
  kind: oneOf('refused', 'answered', 'signIn'),
  redirectUri: nullable(text),
  scopes: nullable(text),
}

const read = `SELECT logged.id::text, ${unixMs('at')} AS ms, "requestId", "clientId" AS client,
    client.name AS "clientName", method, route, status, error, message, ms AS took`
const named = `LEFT JOIN "Client" client ON client.id = "clientId" AND client."teamId" = logged."teamId"`

const stored = '"teamId", id, at, "clientId", "requestId", method, route, status, ms'
const fields = {
  RefusedRequest: `${stored}, error, message, 'refused' AS kind, NULL::text AS "redirectUri", NULL::text AS scopes`,
  AnsweredRequest: `${stored}, NULL, NULL, 'answered', NULL, NULL`,
  FailedSignIn: `${stored}, error, message, 'signIn', "redirectUri", scopes`,
}

/** The newest rows of a team in these tables, for each of which there is a condition. */
function select(conditions: Readonly<Record<keyof typeof fields, string>>, limit: string) {
  const newest = `ORDER BY at DESC, id DESC LIMIT ${limit}`
  const parts = Object.entries(fields).map(
    ([table, list]) =>
      `(SELECT ${list} FROM "${table}" WHERE "teamId" = $team AND ${conditions[table as keyof typeof fields]} ${newest})`,
  )
  return `${read}, kind, "redirectUri", logged.scopes FROM (${parts.join('\nUNION ALL ')}) logged ${named} ORDER BY at DESC, logged.id DESC LIMIT ${limit}`
}

/** Each filter is null where it is not asked for. */
const filters = `($client::text IS NULL OR "clientId" = $client)
  AND ($app::text IS NULL OR "clientId" = ANY (ARRAY(SELECT id FROM "Client" WHERE "appId" = $app))) AND ($status::int4 IS NULL OR status = $status)
  AND ($method::text IS NULL OR method = $method) AND ($route::text IS NULL OR route = $route)
  AND (at, id) < (coalesce($beforeAt::timestamptz, 'infinity'), coalesce($beforeId::int8, 0))
  AND (at, id) > (coalesce($afterAt::timestamptz, '-infinity'), coalesce($afterId::int8, 0))`
const memberFilter = '($members::text[] IS NULL OR member = ANY ($members::text[]))'

const hasId = '"requestId" = $requestId'

export const statements = {
  list: statement(
    'logged_requests',
    select(
      {
        RefusedRequest: `${filters} AND ${memberFilter} AND ($notStatus::int4 IS NULL OR status <> $notStatus)`,
        AnsweredRequest: `$successes::bool AND ${filters} AND ${memberFilter}`,
        FailedSignIn: `$members::text[] IS NULL AND ${filters}`,
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
    select({ RefusedRequest: hasId, AnsweredRequest: hasId, FailedSignIn: hasId }, String(MAX_OF_AN_ID)),
    { team: text, requestId: text },
    columns,
  ),
  registrations: statement(
    'logged_registrations',
    `SELECT id AS client, ${listSql('"redirectUris"')} AS "redirectUris", ${listSql('scopes')} AS scopes
      FROM "Client" WHERE id = ANY ($clients::text[]) AND "teamId" = $team`,
    { team: text, clients: texts },
    { client: text, redirectUris: jsonStrings, scopes: jsonStrings },
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

type Row = ReturnType<(typeof statements.list)['decode']>

export const toItem = ({ id: _, ms, took, kind, redirectUri, scopes, ...row }: Row) => ({
  ...row,
  at: new Date(ms).toISOString(),
  ms: took,
  sent: kind === 'signIn' ? { redirectUri, scopes: scopes?.split(' ') ?? [] } : null,
})

/** What the clients of failed sign-ins have registered now, by client. */
export async function readRegistrations({ core: { db } }: Context, team: string, rows: readonly Row[]) {
  const clients = new Set(rows.filter(({ kind }) => kind === 'signIn').map(({ client }) => client))
  if (clients.size === 0) return {}
  const found = await db.execute(statements.registrations, { team, clients: [...clients] })
  return Object.fromEntries(found.map(({ client, ...registered }) => [client, registered]))
}

/** The newest refusal of an app's clients that is an error, among the newest of the team: its index does not have the client. */
export async function findLastError(ctx: Context, { team, app, among }: { team: string; app: string; among: number }) {
  const [found] = await ctx.core.db.execute(statements.lastError, { team, app, among })
  if (!found) return null
  const { id: _, ms, took, ...row } = found
  return { ...row, at: new Date(ms).toISOString(), ms: took }
}
