import type { Database, Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { int, statement, text } from '../../../prisma/pg/statement.ts'
import { PORTION } from '../../kernel/housekeeping.ts'
import { haveMoreRecords, removeConsents, removeRecords } from '../../kernel/withdraw.ts'

const lock = statement('client_lock', 'SELECT id FROM "Client" WHERE id = $id FOR UPDATE', { id: text }, { id: text })

const some = statement(
  'client_some_consents',
  'SELECT id FROM "Consent" WHERE "clientId" = $id OFFSET $offset::int8 LIMIT $limit::int8',
  { id: text, offset: int, limit: int },
  { id: text },
)

/**
 * Before `removeClientIn`: removes all consents but a portion, with their records, so that no statement takes long. What was removed
 * stays so if the rest fails. Returns the number of those after `consentedAfter` that were not withdrawn.
 */
export async function removeMostConsents(
  db: Database,
  id: string,
  consentedAfter: number,
  portion = PORTION,
): Promise<number> {
  const read = async (offset: number) => {
    const rows = await db.execute(some, { id, offset, limit: portion })
    return rows.map((consent) => consent.id)
  }
  for (let sum = 0; ; ) {
    const { removed, inForce } = await removeConsents(db, await read(portion), consentedAfter, portion)
    sum += inForce
    if (removed > 0) continue
    const rest = await read(0)
    if (await haveMoreRecords(db, rest, portion)) await removeRecords(db, rest, portion)
    return sum
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
