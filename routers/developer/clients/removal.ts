import type { Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { statement, text } from '../../../prisma/pg/statement.ts'
import { removeRecords } from '../../kernel/withdraw.ts'

const lock = statement('client_lock', 'SELECT id FROM "Client" WHERE id = $id FOR UPDATE', { id: text }, { id: text })

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
