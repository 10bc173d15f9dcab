import type { Database, Transaction } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'

interface Given {
  personId: string
  clientId: string
  organisationId: Prisma.ConsentWhereInput['organisationId'] & {}
}

/** Withdraws all consents in force of a member to a client, with what was issued under them. Returns their number. */
export async function withdrawConsents(tx: Transaction, given: Given, now: number): Promise<number> {
  const all = await tx.consent.findMany({ where: { ...given, withdrawnAt: null }, select: { id: true } })
  const ids = all.map(({ id }) => id)
  return endGrantsIn(tx, ids, now)
}

/** With the consents of sign-ins that they covered. Returns how many of `grants` were in force until now. */
export const endGrants = (db: Database, grants: string[], now: number): Promise<number> =>
  db.$transaction((tx) => endGrantsIn(tx, grants, now))

export async function endGrantsIn(tx: Transaction, grants: string[], now: number, replayed = false): Promise<number> {
  const at = new Date(now)
  const { count } = await tx.consent.updateMany({
    where: { id: { in: grants }, withdrawnAt: null },
    data: { withdrawnAt: at, ...(replayed && { replayedAt: at }) },
  })
  const skipped = await tx.consent.findMany({ where: { basis: { in: grants } }, select: { id: true } })
  await removeRecords(tx, [...grants, ...skipped.map(({ id }) => id)])
  return count
}

/** Removes what was issued under grants, and these. */
export const removeRecords = (tx: Transaction, grants: string[]) =>
  tx.oauthRecord.deleteMany({
    where: { OR: [{ grantId: { in: grants } }, { model: 'Grant', id: { in: grants } }] },
  })
