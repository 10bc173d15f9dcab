import type { Database } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, int, statement } from '../../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../../../routers/kernel/access.ts'
import { DAY_MS } from '../../../routers/kernel/time.ts'

const KEPT_MS = 30 * DAY_MS

/** A "Team" `team` with its "App" `app`. */
const HOSTS = `"Team" team JOIN "App" app ON app.id = team.id WHERE team.id LIKE 'https://%'`
const IS_KEPT = `(app.state <> 'active'
    OR EXISTS (SELECT FROM "Client" client JOIN "Consent" consent ON consent."clientId" = client.id
      WHERE client."teamId" = team.id AND "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter::timestamptz)
    OR EXISTS (SELECT FROM "ClubApproval" WHERE "appId" = app.id)
    OR EXISTS (SELECT FROM "ChildRequest" WHERE "appId" = app.id))`

const statements = {
  end: statement(
    'unused_hosts_end',
    `WITH ended AS (UPDATE "Team" SET "endsAt" = $endsAt::timestamptz WHERE id = ANY (ARRAY(
        SELECT team.id FROM ${HOSTS} AND team."endsAt" IS NULL AND NOT ${IS_KEPT}
        LIMIT $limit::int8 FOR UPDATE OF team SKIP LOCKED)) RETURNING 1)
      SELECT count(*) AS ended FROM ended`,
    { endsAt: instant, consentedAfter: instant, limit: int },
    { ended: int },
  ),
  keep: statement(
    'unused_hosts_keep',
    `UPDATE "Team" SET "endsAt" = NULL WHERE id = ANY (ARRAY(
      SELECT team.id FROM ${HOSTS} AND team."endsAt" IS NOT NULL AND ${IS_KEPT} FOR UPDATE OF team SKIP LOCKED))`,
    { consentedAfter: instant },
    {},
  ),
}

/**
 * Lets hosts of client metadata documents end in 30 days, with what their apps store: those that no member allows now, whose app is
 * active, and about which nobody has decided. A consent, a suspension or a decision until then keeps one. Returns their number, at
 * most `limit`.
 */
export const endUnusedHosts = (db: Database, now: number, limit: number): Promise<number> =>
  db.inTransaction(async (client) => {
    const consentedAfter = now - CONSENT_MS
    const [row] = await executeIn(client, statements.end, { endsAt: now + KEPT_MS, consentedAfter, limit })
    // By a later snapshot: a consent may have been stored since that of the first, before it had the lock of the team.
    await executeIn(client, statements.keep, { consentedAfter })
    return row!.ended
  })
