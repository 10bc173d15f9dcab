import type { Database, Transaction } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { bool, instant, int, statement, text, texts } from '../../prisma/pg/statement.ts'

interface Given {
  personId: string
  clientId: string
  organisationId: Prisma.ConsentWhereInput['organisationId'] & {}
}

/** All grants are one parameter: a statement of Prisma has at most 32,767. */
const statements = {
  end: statement(
    'grants_end',
    `WITH ended AS (UPDATE "Consent" SET "withdrawnAt" = $at, "replayedAt" = CASE WHEN $replayed THEN $at ELSE "replayedAt" END
        WHERE id = ANY ($grants) AND "withdrawnAt" IS NULL RETURNING 1)
      SELECT count(*) AS ended FROM ended`,
    { grants: texts, at: instant, replayed: bool },
    { ended: int },
  ),
  skipped: statement(
    'grants_skipped',
    'SELECT id FROM "Consent" WHERE basis = ANY ($grants)',
    { grants: texts },
    { id: text },
  ),
  removeRecords: statement(
    'grants_remove_records',
    `DELETE FROM "OauthRecord" WHERE "grantId" = ANY ($grants) OR (model = 'Grant' AND id = ANY ($grants))`,
    { grants: texts },
    {},
  ),
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
  const [row] = await executeIn(tx, statements.end, { grants, at: now, replayed })
  const skipped = await executeIn(tx, statements.skipped, { grants })
  await removeRecords(tx, [...grants, ...skipped.map(({ id }) => id)])
  return row!.ended
}

/** Removes what was issued under grants, and these. */
export async function removeRecords(tx: Transaction, grants: string[]): Promise<void> {
  await executeIn(tx, statements.removeRecords, { grants })
}
