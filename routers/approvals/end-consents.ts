import type { Database, Transaction } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { bool, instant, int, nullable, statement, text } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { findSkipped, removeRecords } from '../kernel/withdraw.ts'
import type { ClubApp } from './approvals.ts'

interface Portion {
  at: Date
  limit: number
}

const OF_APP = `"clientId" = ANY (ARRAY(SELECT id FROM "Client" WHERE "appId" = $app))`
/** A node of the release before approves an app without a change of "ending". */
const IS_ENDING = `ending AND state IN ('refused', 'withdrawn')`

const statements = {
  count: statement(
    'approval_count_consents',
    `SELECT count(*) AS consents FROM "Consent" WHERE "organisationId" = $club AND "withdrawnAt" IS NULL AND ${OF_APP}`,
    { club: text, app: text },
    { consents: int },
  ),
  end: statement(
    'approval_end_consents',
    `UPDATE "Consent" SET "withdrawnAt" = $at WHERE "withdrawnAt" IS NULL AND id = ANY (ARRAY(
        SELECT id FROM "Consent" WHERE "organisationId" = $club AND "withdrawnAt" IS NULL
          AND ($child::text IS NULL OR "personId" = $child) AND ${OF_APP}
        ORDER BY id LIMIT $limit::int8))
      RETURNING id`,
    { club: text, app: text, child: nullable(text), at: instant, limit: int },
    { id: text },
  ),
  mark: statement(
    'approval_mark_ending',
    `UPDATE "ClubApproval" SET ending = $ending
      WHERE "organisationId" = $club AND "appId" = $app AND ending <> $ending`,
    { club: text, app: text, ending: bool },
    {},
  ),
  lock: statement(
    'approval_lock_ending',
    `SELECT id FROM "ClubApproval" WHERE "organisationId" = $club AND "appId" = $app AND ${IS_ENDING} FOR UPDATE`,
    { club: text, app: text },
    { id: text },
  ),
  next: statement(
    'approval_next_ending',
    `SELECT "organisationId" AS club, "appId" AS app FROM "ClubApproval" WHERE ${IS_ENDING}
      ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED`,
    {},
    { club: text, app: text },
  ),
}

/** How many members' consents to an app are in force in a club. */
export async function countConsents(tx: Transaction, { club, app }: ClubApp): Promise<number> {
  const [row] = await executeIn(tx, statements.count, { club, app })
  return row!.consents
}

/**
 * Ends those of a child. The request is locked: a consent that is being given has either been stored, or finds it changed.
 */
export async function endOfChild(tx: Transaction, of: ClubApp & { child: string }, at: Date): Promise<number> {
  for (let ended = 0; ; ) {
    const ids = await end(tx, of, { at, limit: PORTION })
    await removeRecords(tx, ids)
    ended += ids.length
    if (ids.length < PORTION) return ended
  }
}

/** Ends a portion of those of a club, whose decision is locked, and stores whether any may be left. */
export async function endPortion(tx: Transaction, { club, app }: ClubApp, portion: Portion): Promise<string[]> {
  const ids = await end(tx, { club, app, child: null }, portion)
  await executeIn(tx, statements.mark, { club, app, ending: ids.length === portion.limit })
  return ids
}

/**
 * After a portion has ended with the decision, ends the others, unless the club approves the app again, and only then removes the
 * records of all, which are refused already: also where it fails in the middle.
 */
export async function endOthers(
  db: Database,
  of: ClubApp,
  { ended, ...portion }: Portion & { ended: string[] },
): Promise<void> {
  const portions = [ended]
  try {
    while (portions.at(-1)!.length === portion.limit) portions.push(await endNext(db, of, portion))
  } finally {
    for (const ids of portions) await removeTokens(db, ids, portion.limit)
  }
}

/**
 * Ends consents that a decision has left because it was interrupted, at most `limit`. Returns their number, and 1 for a decision
 * that has none left.
 */
export async function endLeft(db: Database, now: number, limit: number): Promise<number> {
  const [of] = await db.execute(statements.next, {})
  if (!of) return 0
  const ids = await endNext(db, of, { at: new Date(now), limit })
  await removeTokens(db, ids, limit)
  return Math.max(1, ids.length)
}

async function end(tx: Transaction, { club, app, child }: ClubApp & { child: string | null }, portion: Portion) {
  const rows = await executeIn(tx, statements.end, { club, app, child, ...portion })
  return rows.map(({ id }) => id)
}

const endNext = (db: Database, { club, app }: ClubApp, portion: Portion): Promise<string[]> =>
  retryingDeadlocks(() =>
    db.$transaction(async (tx) => {
      const [ending] = await executeIn(tx, statements.lock, { club, app })
      return ending ? endPortion(tx, { club, app }, portion) : []
    }),
  )

async function removeTokens(db: Database, ids: string[], limit: number): Promise<void> {
  const grants = [...ids, ...(await findSkipped(db, ids))]
  await retryingDeadlocks(() => removeRecords(db, grants, limit))
}
