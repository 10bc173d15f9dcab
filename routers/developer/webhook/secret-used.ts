import { int, statement } from '../../../prisma/pg/statement.ts'
import { unix } from '../../kernel/time.ts'

/** Among each subscription's newest deliveries: a retry of an older one is not looked for. */
const LOOKED_AT = 20

/**
 * When the last attempt began that an app's secret, set at $2, has signed. Subscriptions created or updated since have copied it,
 * and that of tests takes it over at each test.
 */
export const secretUsed = statement(
  'developer_secret_used',
  `SELECT ${unix('max("lastAttemptAt")')} AS at
    FROM "Subscription" of CROSS JOIN LATERAL (SELECT "lastAttemptAt" FROM "Delivery"
      WHERE "subscriptionId" = of.id AND "createdAt" >= $2::timestamptz
      ORDER BY "createdAt" DESC, id LIMIT ${LOOKED_AT}) found
    WHERE of."appId" = $1 AND secret IS NOT NULL
      AND (test OR coalesce("secretCopiedAt", of."createdAt") >= $2::timestamptz)
      AND "lastAttemptAt" >= coalesce("secretCopiedAt", '-infinity')
    HAVING count(*) > 0`,
  { at: int },
)
