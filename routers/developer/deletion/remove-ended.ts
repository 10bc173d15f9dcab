import type { Database } from '../../../prisma/client.ts'
import { bool, instant, int, statement, text } from '../../../prisma/pg/statement.ts'
import { PORTION } from '../../kernel/housekeeping.ts'
import { removeConsents } from '../../kernel/withdraw.ts'
import { portions as stored } from '../../storage/removal.ts'

const APPS = `"App" app JOIN "Team" team ON team.id = app."teamId" AND (app."endsAt" <= $now::timestamptz OR team."endsAt" <= $now::timestamptz)`
const CLIENTS = `"Client" client JOIN "Team" team ON team.id = client."teamId" LEFT JOIN "App" app ON app.id = client."appId"`
const TEAMS = `"Team" team ON team."endsAt" <= $now::timestamptz AND team.id = part."teamId"`

/** Removes at most `limit` rows of a table; `rows` reads them as `part`. */
const portion = (name: string, table: string, rows: string) =>
  statement(
    `ended_${name}`,
    `WITH gone AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT part.ctid FROM ${rows} LIMIT $limit::int8 FOR UPDATE OF part SKIP LOCKED)) RETURNING 1)
      SELECT count(*) AS removed FROM gone`,
    { now: instant, limit: int },
    { removed: int },
  )

/** Those with many rows first, so that no statement takes long: the rest goes with the app or team. */
const portions = [
  portion(
    'deliveries',
    '"Delivery"',
    `${APPS} JOIN "Subscription" own ON own."appId" = app.id JOIN "Delivery" part ON part."subscriptionId" = own.id`,
  ),
  portion('events', '"PublishedEvent"', `${APPS} JOIN "PublishedEvent" part ON part."appId" = app.id`),
  portion('subscriptions', '"Subscription"', `${APPS} JOIN "Subscription" part ON part."appId" = app.id`),
  portion('refused', '"RefusedRequest"', `"RefusedRequest" part JOIN ${TEAMS}`),
  portion('answered', '"AnsweredRequest"', `"AnsweredRequest" part JOIN ${TEAMS}`),
  portion('sign_ins', '"FailedSignIn"', `"FailedSignIn" part JOIN ${TEAMS}`),
  portion('usage', '"ClientUsage"', `"ClientUsage" part JOIN ${TEAMS}`),
  portion('audit', '"AuditEntry"', `"AuditEntry" part JOIN ${TEAMS}`),
  // Invented people, of whom no membership would be left.
  portion(
    'test_members',
    '"Person"',
    `"Team" team JOIN "Organisation" own ON own."testTeamId" = team.id AND team."endsAt" <= $now::timestamptz
      JOIN "Membership" member ON member."organisationId" = own.id JOIN "Person" part ON part.id = member."personId"`,
  ),
  portion(
    'apps',
    '"App"',
    `"App" part JOIN "Team" team ON team.id = part."teamId"
      AND (part."endsAt" <= $now::timestamptz OR team."endsAt" <= $now::timestamptz)`,
  ),
  portion('teams', '"Team"', `(SELECT) none JOIN "Team" part ON part."endsAt" <= $now::timestamptz`),
]

const consents = statement(
  'ended_consents',
  `SELECT part.id FROM ${CLIENTS} JOIN "Consent" part ON part."clientId" = client.id
    WHERE app."endsAt" <= $now::timestamptz OR team."endsAt" <= $now::timestamptz LIMIT $limit::int8 FOR UPDATE OF part SKIP LOCKED`,
  { now: instant, limit: int },
  { id: text },
)

const exist = statement(
  'ended_exist',
  `SELECT EXISTS (SELECT FROM "App" WHERE "endsAt" <= $now::timestamptz)
    OR EXISTS (SELECT FROM "Team" WHERE "endsAt" <= $now::timestamptz) AS exist`,
  { now: instant },
  { exist: bool },
)

const store = statement(
  'ended_store',
  `SELECT used."appId" AS app, used."clubId" AS club FROM ${APPS} JOIN "StorageUsage" used ON used."appId" = app.id LIMIT 1`,
  { now: instant },
  { app: text, club: text },
)

/** The usage row last (routers/storage/removal.ts). */
const portionsOfStore = [stored.entries, stored.changes, stored.requests, stored.usage]

/** Removes at most `limit` rows of apps and teams whose time to restore them is over, and returns their number. */
export async function removeEnded(db: Database, now: number, limit = PORTION): Promise<number> {
  // Each of the others would find nothing.
  if (!(await db.execute(exist, { now }))[0]!.exist) return 0
  const [found] = await db.execute(store, { now })
  if (found) {
    for (const part of portionsOfStore) {
      const [row] = await db.execute(part, { ...found, limit })
      if (row!.removed > 0) return row!.removed
    }
  }
  const ended = await db.execute(consents, { now, limit })
  const ids = ended.map(({ id }) => id)
  const { removed } = await removeConsents(db, ids, now, limit)
  if (removed > 0) return removed
  for (const part of portions) {
    const [row] = await db.execute(part, { now, limit })
    if (row!.removed > 0) return row!.removed
  }
  return 0
}
