import type { Database, Transaction } from '../../prisma/client.ts'
import { ClubApprovalState } from '../../prisma/generated/enums.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { bool, instant, int, json, nullable, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { stateAfter } from '../developer/reviews/transitions.ts'
import type { ConsentAges } from '../kernel/consent-ages.ts'
import { findBirthdays, IS_BELOW_AGE, IS_IN_FORCE } from '../kernel/consent-ages.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { errors } from '../kernel/errors.ts'
import type { ChildApp } from './child-requests.ts'
import { HAS_GUARDIAN, THIS_ONE } from './child-requests.ts'
import type { Decided } from './decide.ts'
import { acts, endConsents, holdAdministrator } from './decide.ts'

export interface ChildDecision extends ChildApp {
  state: Decided
  /** A refusal may have one. */
  reason: string | null
  /** The request's, as it was read; 0 without one. */
  version: number
}

interface By {
  person: string
  as: 'guardian' | 'administrator'
  at: Date
  ages: ConsentAges
}

/**
 * Stores a decision for a child. A refusal or withdrawal ends the child's consents to the app in the same transaction; returns how
 * many. Throws 404 for who does not decide for the child, and 409 where the request is not as it was read. It is in no audit log, as
 * a team would learn who is a child.
 */
export const decideForChild = (db: Database, decision: ChildDecision, by: By): Promise<number> =>
  retryingDeadlocks(() =>
    db.$transaction(async (tx) => {
      const { child, club, app, state, reason, version } = decision
      const { person: decider, at } = by
      await holdDecider(tx, decision, by)
      const [before] = await executeIn(tx, statements.lock, { child, club, app })
      const review = { covers: 'child', state: before?.state ?? 'unasked' } as const
      if ((before?.version ?? 0) !== version || !stateAfter(review, acts[state])) throw errors.changedMeanwhile()
      const ended = state === 'approved' ? 0 : await endConsents(tx, { child, club, app }, at)
      const written = before
        ? await executeIn(tx, statements.write, { child, club, app, state, reason, at, decider })
        : await executeIn(tx, statements.endUnasked, { child, club, app, at, decider })
      if (written.length === 0) throw errors.changedMeanwhile()
      return ended
    }),
  )

const own = { child: text, club: text, app: text }
const state = oneOf(...Object.values(ClubApprovalState))

const statements = {
  child: statement(
    'child_decided_on',
    `SELECT ${HAS_GUARDIAN} AS "hasGuardian" FROM "Person" child CROSS JOIN "Organisation" organisation
      WHERE child.id = $child AND organisation.id = $club AND ${IS_BELOW_AGE}`,
    { child: text, club: text, at: instant, birthdays: json<ReturnType<typeof findBirthdays>>() },
    { hasGuardian: bool },
  ),
  guardian: statement(
    'child_guardian',
    `SELECT "guardianId" FROM "Guardian" WHERE "childId" = $child AND "guardianId" = $person AND ${IS_IN_FORCE} FOR SHARE`,
    { child: text, person: text, at: instant },
    { guardianId: text },
  ),
  lock: statement('child_lock', `SELECT state, version FROM "ChildRequest" WHERE ${THIS_ONE} FOR UPDATE`, own, {
    state,
    version: int,
  }),
  write: statement(
    'child_write',
    `UPDATE "ChildRequest" SET state = $state, reason = $reason, "decidedAt" = $at, "decidedBy" = $decider,
        version = version + 1, covered = CASE $state::"ClubApprovalState" WHEN 'approved' THEN scopes ELSE '{}' END
      WHERE ${THIS_ONE} RETURNING id`,
    { ...own, state, reason: nullable(text), at: instant, decider: text },
    { id: text },
  ),
  /** With the scopes of the consents that this has ended. */
  endUnasked: statement(
    'child_end_unasked',
    `INSERT INTO "ChildRequest" (id, "childId", "organisationId", "appId", state, scopes, "decidedAt", "decidedBy")
      SELECT gen_random_uuid(), $child, $club, $app, 'withdrawn', array_agg(scope), $at, $decider FROM (
        SELECT DISTINCT unnest(scopes) AS scope FROM "Consent" WHERE "personId" = $child AND "organisationId" = $club
          AND "withdrawnAt" = $at AND "clientId" IN (SELECT id FROM "Client" WHERE "appId" = $app)) ended
      HAVING count(*) > 0 ON CONFLICT ("childId", "organisationId", "appId") DO NOTHING RETURNING id`,
    { ...own, at: instant, decider: text },
    { id: text },
  ),
}

/** The role ends after the transaction at the earliest. Nobody decides for themselves. */
async function holdDecider(tx: Transaction, { child, club }: ChildApp, { person, as, at, ages }: By) {
  const [found] = await executeIn(tx, statements.child, {
    child,
    club,
    at,
    birthdays: findBirthdays(ages, at.getTime()),
  })
  if (!found || person === child || (as === 'administrator' && found.hasGuardian)) throw errors.addressUnknown()
  if (as === 'administrator') return holdAdministrator(tx, club, person, at)
  const rows = await executeIn(tx, statements.guardian, { child, person, at })
  if (rows.length === 0) throw errors.addressUnknown()
}
