import type { Database, Transaction } from '../../prisma/client.ts'
import type { ClubApprovalState } from '../../prisma/generated/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { statement, text } from '../../prisma/pg/statement.ts'
import type { Asker } from './mails.ts'
import { queueRequest } from './mails.ts'

export interface ClubApp {
  club: string
  app: string
}

/** The advisory lock under which numbers are given. */
const LOCK = 7_113_902_645

const statements = {
  hold: statement(
    'approval_hold',
    `SELECT id FROM "ClubApproval" WHERE "organisationId" = $club AND "appId" = $app AND state = 'approved' FOR SHARE`,
    { club: text, app: text },
    { id: text },
  ),
  lockNumbers: statement('approval_lock_numbers', `SELECT FROM pg_advisory_xact_lock(${LOCK})`, {}, {}),
  renumber: statement(
    'approval_renumber',
    `UPDATE "ClubApproval" SET number = nextval(pg_get_serial_sequence('"ClubApproval"', 'number')) WHERE id = $id`,
    { id: text },
    {},
  ),
}

/** What clubs have decided about an app; clubs that nobody has asked are missing. */
export async function findApprovals(db: Database, app: string, clubs: readonly string[]) {
  const rows = await db.clubApproval.findMany({
    where: { appId: app, organisationId: { in: [...clubs] } },
    select: { organisationId: true, state: true },
  })
  return new Map<string, ClubApprovalState>(rows.map(({ organisationId, state }) => [organisationId, state]))
}

export const isApproved = async (db: Database, { club, app }: ClubApp) =>
  (await db.clubApproval.count({ where: { organisationId: club, appId: app, state: 'approved' } })) > 0

/** Whether the club has approved the app, which then cannot change before the transaction ends. */
export async function holdApproval(tx: Transaction, { club, app }: ClubApp): Promise<boolean> {
  return (await executeIn(tx, statements.hold, { club, app })).length > 0
}

/**
 * Asks a club to approve an app, once: later requests, and those after a decision, change nothing. The administrators of the club
 * get a mail that names the asker.
 */
export async function requestApproval(db: Database, { club, app }: ClubApp, now: number, asker?: Asker): Promise<void> {
  const requestedAt = new Date(now)
  const data = { organisationId: club, appId: app, state: 'requested' as const, requestedAt }
  await db.$transaction(async (tx) => {
    const [added] = await tx.clubApproval.createManyAndReturn({ data, skipDuplicates: true, select: { id: true } })
    if (added && asker) await queueRequest(tx, { request: added.id, club, asker, at: now })
    if (added) await renumber(tx, added.id)
  })
}

/**
 * Gives a changed row the next number. The last statement of a transaction: no other one can give a number before it ends, so that
 * who reads by number misses no change.
 */
export async function renumber(tx: Transaction, id: string): Promise<void> {
  await executeIn(tx, statements.lockNumbers, {})
  await executeIn(tx, statements.renumber, { id })
}
