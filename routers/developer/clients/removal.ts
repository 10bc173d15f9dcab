import type { Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { statement, text, texts } from '../../../prisma/pg/statement.ts'

const lock = statement('client_lock', 'SELECT id FROM "Client" WHERE id = $id FOR UPDATE', { id: text }, { id: text })

const removeRecords = statement(
  'client_remove_records',
  `DELETE FROM "OauthRecord" WHERE "grantId" = ANY ($grants) OR (model = 'Grant' AND id = ANY ($grants))`,
  { grants: texts },
  {},
)

/**
 * Removes a client with its consents and the authorization server's records of them. Returns the number of consents that were in
 * force, or null when there is no such client.
 */
export async function removeClientIn(tx: Transaction, id: string): Promise<number | null> {
  // The row lock keeps new consents out.
  if ((await executeIn(tx, lock, { id })).length === 0) return null
  const consents = await tx.consent.findMany({ where: { clientId: id }, select: { id: true, withdrawnAt: true } })
  const grants = consents.map((consent) => consent.id)
  await executeIn(tx, removeRecords, { grants })
  await tx.client.delete({ where: { id }, select: { id: true } })
  return consents.filter(({ withdrawnAt }) => withdrawnAt === null).length
}
