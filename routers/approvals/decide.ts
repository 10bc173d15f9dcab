import type { Database, Transaction } from '../../prisma/client.ts'
import { ClubApprovalState } from '../../prisma/generated/enums.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { instant, nullable, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { auditing } from '../developer/audit/record.ts'
import { stateAfter } from '../developer/reviews/transitions.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { errors } from '../kernel/errors.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { characterSentence, textFault } from '../kernel/text-input.ts'
import type { ClubApp } from './approvals.ts'
import { renumber } from './approvals.ts'
import { membersWhoAllow } from './club-approvals.ts'
import { countConsents, endOthers, endPortion } from './end-consents.ts'

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
 * transaction, after which nobody can give one where clubs decide, and the others after it. If that fails, housekeeping goes on with
 * it (`endLeft`), as does the same decision again.
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
      const data = { state, reason, decidedAt: by.at, decidedBy: by.administrator, ending: false }
      const row = isNew && (await tx.clubApproval.upsert({ where: { of }, create: { ...of, ...data }, update: data }))
      const ending = state === 'approved' ? 0 : await countConsents(tx, decision)
      const ended = state === 'approved' ? [] : await endPortion(tx, decision, { at: by.at, limit: portion })
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
}

/** The role ends after the transaction at the earliest. */
export async function holdAdministrator(tx: Transaction, club: string, person: string, at: Date) {
  const rows = await executeIn(tx, statements.administrator, { club, person, at })
  if (rows.length === 0) throw errors.clubUnknown()
}
