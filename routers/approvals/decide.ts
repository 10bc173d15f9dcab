import type { Database, Transaction } from '../../prisma/client.ts'
import { ClubApprovalState } from '../../prisma/generated/enums.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { instant, int, nullable, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { auditing } from '../developer/audit/record.ts'
import { stateAfter } from '../developer/reviews/transitions.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { errors } from '../kernel/errors.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { characterSentence, textFault } from '../kernel/text-input.ts'
import { findSkipped, removeRecords } from '../kernel/withdraw.ts'
import type { ClubApp } from './approvals.ts'
import { renumber } from './approvals.ts'
import { membersWhoAllow } from './club-approvals.ts'

const MAX_REASON = 500

export const reasonFault = (text: string) => textFault(text, MAX_REASON)

export const reasonSentence = (text: string) => {
  const fault = reasonFault(text)
  const sentence = fault && characterSentence(fault)
  return `reason ${sentence ?? `must be 1 to ${MAX_REASON} characters without control characters.`}`
}

export type Decided = 'approved' | 'refused' | 'withdrawn'

export interface Decision extends ClubApp {
  state: Decided
  /** A refusal has one, a withdrawal may. */
  reason: string | null
}

interface By {
  /** Null for the platform. */
  administrator: string | null
  at: Date
}

export const acts = { approved: 'approve', refused: 'refuse', withdrawn: 'withdraw' } as const

/**
 * Stores a club's decision. A refusal or withdrawal ends all consents of the club's members to the app: a portion in the same
 * transaction, after which nobody can give one, and the others after it. If that fails, the same decision again goes on with it.
 * Returns how many end. Throws 404 for a club that is not the administrator's, and 409 for the withdrawal of an app that is not
 * approved, or the refusal of one that is.
 */
export async function decide(db: Database, decision: Decision, by: By, portion = PORTION): Promise<number> {
  const { ending, ended } = await retryingDeadlocks(() =>
    auditing(db, { person: null, at: by.at }, async (tx, note) => {
      const { club: clubId, app: appId, state, reason } = decision
      if (by.administrator !== null) await holdAdministrator(tx, clubId, by.administrator, by.at)
      const club = await tx.organisation.findUnique({ where: { id: clubId, kind: 'club', testTeamId: null } })
      if (!club) throw errors.clubUnknown()
      const app = await tx.app.findUnique({ where: { id: appId }, select: { teamId: true } })
      if (!app) throw errors.ownAppUnknown()
      const [before] = await executeIn(tx, statements.lock, { club: clubId, app: appId })
      const review = { covers: 'club', state: before?.state ?? 'unasked' } as const
      if (!stateAfter(review, acts[state])) throw errors.changedMeanwhile()
      const isNew = before?.state !== state || before.reason !== reason
      if (!before && by.administrator !== null && (await membersWhoAllow(tx, decision, by.at.getTime())) === 0) {
        throw errors.ownAppUnknown()
      }
      const of = { organisationId: clubId, appId }
      const data = { state, reason, decidedAt: by.at, decidedBy: by.administrator }
      const row = isNew && (await tx.clubApproval.upsert({ where: { of }, create: { ...of, ...data }, update: data }))
      const ending = state === 'approved' ? 0 : await countConsents(tx, decision)
      const ended = ending === 0 ? [] : await endPortion(tx, decision, { at: by.at, limit: portion })
      if (!row && ending === 0) return { ending, ended }
      await note({
        team: app.teamId,
        action: `club.${acts[state]}`,
        target: appId,
        after: {
          club: clubId,
          clubName: club.name,
          ...(reason !== null && { reason }),
          ...(ending > 0 && { ended: ending }),
        },
      })
      if (row) await renumber(tx, row.id)
      return { ending, ended }
    }),
  )
  await endOthers(db, decision, { at: by.at, limit: portion, ended })
  return ending
}

const OF_APP = `"clientId" = ANY (ARRAY(SELECT id FROM "Client" WHERE "appId" = $app))`

const statements = {
  administrator: statement(
    'approval_administrator',
    `SELECT "personId" FROM "Membership" WHERE "organisationId" = $club AND "personId" = $person
      AND administrator AND ("leftAt" IS NULL OR "leftAt" > $at) FOR SHARE`,
    { club: text, person: text, at: instant },
    { personId: text },
  ),
  lock: statement(
    'approval_lock',
    'SELECT state, reason FROM "ClubApproval" WHERE "organisationId" = $club AND "appId" = $app FOR UPDATE',
    { club: text, app: text },
    { state: oneOf(...Object.values(ClubApprovalState)), reason: nullable(text) },
  ),
  count: statement(
    'approval_count_consents',
    `SELECT count(*) AS consents FROM "Consent" WHERE "organisationId" = $club AND "withdrawnAt" IS NULL AND ${OF_APP}`,
    { club: text, app: text },
    { consents: int },
  ),
  endConsents: statement(
    'approval_end_consents',
    `UPDATE "Consent" SET "withdrawnAt" = $at WHERE "withdrawnAt" IS NULL AND id = ANY (ARRAY(
        SELECT id FROM "Consent" WHERE "organisationId" = $club AND "withdrawnAt" IS NULL
          AND ($child::text IS NULL OR "personId" = $child) AND ${OF_APP}
        ORDER BY id LIMIT $limit::int8))
      RETURNING id`,
    { club: text, app: text, child: nullable(text), at: instant, limit: int },
    { id: text },
  ),
}

/** The role ends after the transaction at the earliest. */
export async function holdAdministrator(tx: Transaction, club: string, person: string, at: Date) {
  const rows = await executeIn(tx, statements.administrator, { club, person, at })
  if (rows.length === 0) throw errors.clubUnknown()
}

type Of = ClubApp & { child?: string | null }

/**
 * Ends those of a child. The request is locked: a consent that is being given has either been stored, or finds it changed.
 */
export async function endConsents(tx: Transaction, of: Of, at: Date): Promise<number> {
  for (let ended = 0; ; ) {
    const ids = await endPortion(tx, of, { at, limit: PORTION })
    await removeRecords(tx, ids)
    ended += ids.length
    if (ids.length < PORTION) return ended
  }
}

async function countConsents(tx: Transaction, { club, app }: ClubApp): Promise<number> {
  const [row] = await executeIn(tx, statements.count, { club, app })
  return row!.consents
}

async function endPortion(
  tx: Transaction,
  { club, app, child = null }: Of,
  { at, limit }: { at: Date; limit: number },
): Promise<string[]> {
  const rows = await executeIn(tx, statements.endConsents, { club, app, child, at, limit })
  return rows.map(({ id }) => id)
}

/**
 * Removes the records of the portion that has ended, which are refused already, and ends the others likewise, unless the club
 * approves the app again.
 */
async function endOthers(
  db: Database,
  { club, app }: ClubApp,
  { ended, ...portion }: { at: Date; limit: number; ended: string[] },
): Promise<void> {
  for (let ids = ended; ; ) {
    const grants = [...ids, ...(await findSkipped(db, ids))]
    await retryingDeadlocks(() => removeRecords(db, grants, portion.limit))
    if (ids.length < portion.limit) return
    ids = await retryingDeadlocks(() =>
      db.$transaction(async (tx) => {
        const [approval] = await executeIn(tx, statements.lock, { club, app })
        return approval?.state === 'approved' ? [] : endPortion(tx, { club, app }, portion)
      }),
    )
  }
}
