import type { Database } from '../../../prisma/client.ts'
import { instant, int, statement } from '../../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../../../routers/kernel/access.ts'
import { DAY_MS } from '../../../routers/kernel/time.ts'

const KEPT_MS = 30 * DAY_MS

const end = statement(
  'unused_hosts_end',
  `WITH ended AS (UPDATE "Team" SET "endsAt" = $endsAt::timestamptz WHERE id = ANY (ARRAY(
      SELECT team.id FROM "Team" team JOIN "App" app ON app.id = team.id
      WHERE team.id LIKE 'https://%' AND team."endsAt" IS NULL AND app.state = 'active'
        AND NOT EXISTS (SELECT FROM "Client" client JOIN "Consent" consent ON consent."clientId" = client.id
          WHERE client."teamId" = team.id AND "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter::timestamptz)
        AND NOT EXISTS (SELECT FROM "ClubApproval" WHERE "appId" = app.id)
        AND NOT EXISTS (SELECT FROM "ChildRequest" WHERE "appId" = app.id)
      LIMIT $limit::int8 FOR UPDATE OF team SKIP LOCKED)) RETURNING 1)
    SELECT count(*) AS ended FROM ended`,
  { endsAt: instant, consentedAfter: instant, limit: int },
  { ended: int },
)

/**
 * Lets hosts of client metadata documents end in 30 days, with what their apps store: those that no member allows now, and about
 * which nobody has decided. A consent until then keeps one. Returns their number, at most `limit`.
 */
export async function endUnusedHosts(db: Database, now: number, limit: number): Promise<number> {
  const [row] = await db.execute(end, { endsAt: now + KEPT_MS, consentedAfter: now - CONSENT_MS, limit })
  return row!.ended
}
