import type { Database, Transaction } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { execute, executeIn } from '../../prisma/pg/execute.ts'
import { bool, instant, int, statement, text, texts } from '../../prisma/pg/statement.ts'
import { PORTION } from './housekeeping.ts'

interface Given {
  personId: string
  clientId: string
  organisationId: Prisma.ConsentWhereInput['organisationId'] & {}
}

/** Grants per removal of records: each of its statements reads those of all of them again. */
const GRANTS_AT_ONCE = 100

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
    `WITH gone AS (DELETE FROM "OauthRecord" WHERE ctid = ANY (ARRAY(
        SELECT record.ctid FROM unnest($grants::text[]) AS given (id)
          JOIN "OauthRecord" record ON "grantId" = given.id OR (model = 'Grant' AND record.id = given.id)
        LIMIT $limit::int8 FOR UPDATE OF record)) RETURNING 1)
      SELECT count(*) AS removed FROM gone`,
    { grants: texts, limit: int },
    { removed: int },
  ),
  countRecords: statement(
    'grants_count_records',
    `SELECT count(*) AS records FROM (SELECT FROM "OauthRecord" WHERE "grantId" = ANY ($grants) LIMIT $limit::int8) found`,
    { grants: texts, limit: int },
    { records: int },
  ),
  removeConsents: statement(
    'consents_remove',
    `WITH gone AS (DELETE FROM "Consent" WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM "Consent" WHERE id = ANY ($ids) FOR UPDATE SKIP LOCKED))
        RETURNING id, "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter::timestamptz AS "inForce"),
      records AS (DELETE FROM "OauthRecord" USING gone WHERE "grantId" = gone.id OR (model = 'Grant' AND "OauthRecord".id = gone.id))
      SELECT count(*) AS removed, count(*) FILTER (WHERE "inForce") AS "inForce" FROM gone`,
    { ids: texts, consentedAfter: instant },
    { removed: int, inForce: int },
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
  await removeRecords(tx, [...grants, ...(await findSkipped(tx, grants))])
  return row!.ended
}

/** The consents of sign-ins that `grants` covered, and which end with them. */
export async function findSkipped(on: Database | Transaction, grants: string[]): Promise<string[]> {
  const rows = await execute(on, statements.skipped, { grants })
  return rows.map(({ id }) => id)
}

/** Removes what was issued under grants, and these: a grant can have hundreds of records, and a statement removes a portion. */
export async function removeRecords(
  on: Database | Transaction,
  all: readonly string[],
  limit = PORTION,
): Promise<void> {
  for (let at = 0; at < all.length; at += GRANTS_AT_ONCE) {
    const values = { grants: all.slice(at, at + GRANTS_AT_ONCE), limit }
    for (let removed = limit; removed === limit; ) {
      const [row] = await execute(on, statements.removeRecords, values)
      removed = row!.removed
    }
  }
}

/** Whether the grants have more than a portion of records. */
export async function haveMoreRecords(db: Database, grants: string[], limit = PORTION): Promise<boolean> {
  const [row] = await db.execute(statements.countRecords, { grants, limit: limit + 1 })
  return row!.records > limit
}

/**
 * Removes consents, a portion at most, and their records before. Returns how many there were, without those that others have locked,
 * and how many of them had been given after `consentedAfter` and were not withdrawn.
 */
export async function removeConsents(db: Database, ids: string[], consentedAfter: number, limit = PORTION) {
  if (await haveMoreRecords(db, ids, limit)) await removeRecords(db, ids, limit)
  const [row] = await db.execute(statements.removeConsents, { ids, consentedAfter })
  return row!
}
