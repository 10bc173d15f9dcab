import type { Database, Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, int, statement, text } from '../../../prisma/pg/statement.ts'
import { PORTION } from '../../kernel/housekeeping.ts'
import { removeRecords } from '../../kernel/withdraw.ts'

const lock = statement('client_lock', 'SELECT id FROM "Client" WHERE id = $id FOR UPDATE', { id: text }, { id: text })

const removePortion = statement(
  'client_remove_consents',
  `WITH gone AS (DELETE FROM "Consent" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "Consent" WHERE "clientId" = $id OFFSET ${PORTION} LIMIT ${PORTION} FOR UPDATE SKIP LOCKED))
      RETURNING id, "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter::timestamptz AS "inForce"),
    records AS (DELETE FROM "OauthRecord" USING gone WHERE "grantId" = gone.id OR (model = 'Grant' AND "OauthRecord".id = gone.id))
    SELECT count(*) AS removed, count(*) FILTER (WHERE "inForce") AS "inForce" FROM gone`,
  { id: text, consentedAfter: instant },
  { removed: int, inForce: int },
)

/**
 * Before `removeClientIn`: removes all consents but a portion, with their records, so that no statement takes long. What was removed
 * stays so if the rest fails. Returns the number of those after `consentedAfter` that were not withdrawn.
 */
export async function removeMostConsents(db: Database, id: string, consentedAfter: number): Promise<number> {
  for (let sum = 0; ; ) {
    const [row] = await db.execute(removePortion, { id, consentedAfter })
    if (row!.removed === 0) return sum
    sum += row!.inForce
  }
}

/**
 * Removes a client with its consents and the authorization server's records of them. Returns the number of consents that were in
 * force, or null when there is no such client.
 */
export async function removeClientIn(tx: Transaction, id: string): Promise<number | null> {
  // The row lock keeps new consents out.
  if ((await executeIn(tx, lock, { id })).length === 0) return null
  const consents = await tx.consent.findMany({ where: { clientId: id }, select: { id: true, withdrawnAt: true } })
  const grants = consents.map((consent) => consent.id)
  await removeRecords(tx, grants)
  await tx.client.delete({ where: { id }, select: { id: true } })
  return consents.filter(({ withdrawnAt }) => withdrawnAt === null).length
}
