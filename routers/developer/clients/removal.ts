import type { Transaction } from '../../../prisma/client.ts'

/**
 * Removes a client with its consents and the authorization server's records of them. Returns the number of consents that were in
 * force, or null when there is no such client.
 */
export async function removeClientIn(tx: Transaction, id: string): Promise<number | null> {
  // The row lock keeps new consents out.
  const [client] = await tx.$queryRaw<unknown[]>`SELECT id FROM "Client" WHERE id = ${id} FOR UPDATE`
  if (!client) return null
  const consents = await tx.consent.findMany({ where: { clientId: id }, select: { id: true, withdrawnAt: true } })
  const grants = consents.map((consent) => consent.id)
  await tx.$executeRaw`DELETE FROM "OauthRecord"
    WHERE "grantId" = ANY (${grants}) OR (model = 'Grant' AND id = ANY (${grants}))`
  await tx.client.delete({ where: { id }, select: { id: true } })
  return consents.filter(({ withdrawnAt }) => withdrawnAt === null).length
}
