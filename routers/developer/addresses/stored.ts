import type { Database } from '../../../prisma/client.ts'
import type { Transactional } from '../../../prisma/pg/execute.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, int, jsonStrings, listSql, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { errors } from '../../kernel/errors.ts'
import { DAY_MS, unix } from '../../kernel/time.ts'
import { EACH_TYPE } from '../webhook/delivery-lists.ts'
import { makeEtag } from '../webhook/etag.ts'

const parameters = { app: text, environment: nullable(oneOf('production', 'sandbox')), id: nullable(text) }

/** With the last attempt among the 20 newest deliveries. */
const stored = statement(
  'addresses',
  `SELECT own.id, CASE WHEN test THEN 'sandbox' ELSE 'production' END AS environment, url, secret, ${listSql('types')} AS types,
      CASE WHEN paused THEN 'paused' WHEN "endedAt" IS NOT NULL THEN 'ended' WHEN alarm = 'failing' OR EXISTS (
        SELECT FROM "Delivery" WHERE "subscriptionId" = own.id AND state = 'pending' AND attempts > 0)
        THEN 'failing' ELSE 'active' END AS state,
      ${unix('"lastAttemptAt"')} AS at, "lastStatus" AS status, "lastError" AS error
    FROM "Subscription" own LEFT JOIN LATERAL (SELECT * FROM (SELECT "lastAttemptAt", "lastStatus", "lastError" FROM "Delivery"
        WHERE "subscriptionId" = own.id ORDER BY "createdAt" DESC, id LIMIT 20) newest
      WHERE "lastAttemptAt" IS NOT NULL ORDER BY "lastAttemptAt" DESC LIMIT 1) last ON true
    WHERE "appId" = $app AND address AND ($environment::text IS NULL OR test = ($environment = 'sandbox'))
      AND ($id::text IS NULL OR own.id = $id)
    ORDER BY own."createdAt", own.id`,
  parameters,
  {
    id: text,
    environment: oneOf('production', 'sandbox'),
    url: nullable(text),
    secret: nullable(text),
    types: jsonStrings,
    state: oneOf('active', 'failing', 'paused', 'ended'),
    at: nullable(int),
    status: nullable(int),
    error: nullable(text),
  },
)

function show({ types, secret, at, status, error, ...row }: ReturnType<typeof stored.decode>) {
  return {
    ...row,
    types: types.length === 0 ? null : types,
    lastDelivery: at === null ? null : { at, status, error },
    etag: makeEtag(row.url, secret, types),
  }
}

/** Null for both environments. */
export type Of = { app: string; environment: 'production' | 'sandbox' | null }

/** The addresses of an app with their health, oldest first. */
export const listAddresses = async (db: Database, { app, environment }: Of) =>
  (await db.execute(stored, { app, environment, id: null })).map(show)

/** Throws 404 for an address of another app or environment. */
export async function findAddress(tx: Transactional, { app, environment }: Of, id: string) {
  const [row] = await executeIn(tx, stored, { app, environment, id })
  if (!row) throw errors.eventAddressUnknown()
  return show(row)
}

/** Events of a type that are counted. */
export const MAX_COUNTED = 1_000

/** The types of an app's events, each with its events of the last 7 days. */
const counted = statement(
  'address_event_counts',
  `${EACH_TYPE} SELECT found.type, production, sandbox FROM (SELECT type FROM found LIMIT 100) found CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE NOT "isTest") AS production, count(*) FILTER (WHERE "isTest") AS sandbox
      FROM (SELECT "isTest" FROM "PublishedEvent" WHERE "appId" = $app AND type = found.type AND "publishedAt" > $since
        ORDER BY "publishedAt" DESC LIMIT ${MAX_COUNTED}) newest) counts`,
  { app: text, since: instant },
  { type: text, production: int, sandbox: int },
)

export const countEvents = (db: Database, app: string, now: number) =>
  db.execute(counted, { app, since: now - 7 * DAY_MS })
