import type { Database, Transaction } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { bool, instant, statement, text } from '../../prisma/pg/statement.ts'
import { stateAfter } from '../developer/reviews/transitions.ts'
import type { ConsentAges } from '../kernel/consent-ages.ts'
import { findBirthdays, IS_BELOW_AGE, IS_IN_FORCE } from '../kernel/consent-ages.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { errors } from '../kernel/errors.ts'
import type { ChildApp } from './child-requests.ts'
import { birthdays, HAS_GUARDIAN } from './child-requests.ts'
import type { Decided } from './decide.ts'
import { acts, holdAdministrator } from './decide.ts'
import { endOfChild } from './end-consents.ts'

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
 * many. Throws 404 for who does not decide for the child, and 409 where the request is not as it was read, other than by the same
 * decision, sent twice. It is in no audit log, as a team would learn who is a child.
 */
export const decideForChild = (db: Database, decision: ChildDecision, by: By): Promise<number> =>
  retryingDeadlocks(() =>
    db.$transaction(async (tx) => {
      const { child: childId, club: organisationId, app: appId, state, reason, version } = decision
      await holdDecider(tx, decision, by)
      const of = { childId, organisationId, appId }
      const read = () => tx.childRequest.findUnique({ where: { of } })
      const isRepeat = (row: Awaited<ReturnType<typeof read>>) =>
        row?.version === version + 1 && row.state === state && row.reason === reason && row.decidedBy === by.person
      const before = await read()
      if (isRepeat(before)) return 0
      const review = { covers: 'child', state: before?.state ?? 'unasked' } as const
      if ((before?.version ?? 0) !== version || !stateAfter(review, acts[state])) throw errors.changedMeanwhile()
      const data = { state, reason, decidedAt: by.at, decidedBy: by.person }
      // Waits for a consent that is being given, and for another decision, after which the version is another one.
      const { count } = before
        ? await tx.childRequest.updateMany({
            where: { ...of, version },
            data: { ...data, covered: state === 'approved' ? before.scopes : [], version: { increment: 1 } },
          })
        : await createDecided(tx, { ...of, ...data })
      if (count === 0) {
        if (isRepeat(await read())) return 0
        throw errors.changedMeanwhile()
      }
      return state === 'approved' ? 0 : endOfChild(tx, decision, by.at)
    }),
  )

/** For an app that a child uses: none where there is no consent, or a request meanwhile. */
async function createDecided(tx: Transaction, data: Omit<Prisma.ChildRequestCreateManyInput, 'scopes'>) {
  const { appId, childId: personId, organisationId } = data
  const where = { personId, organisationId, client: { appId }, withdrawnAt: null }
  const consents = await tx.consent.findMany({ where, select: { scopes: true } })
  const scopes = [...new Set(consents.flatMap(({ scopes }) => scopes))]
  return tx.childRequest.createMany({ data: consents.length === 0 ? [] : { ...data, scopes }, skipDuplicates: true })
}

const statements = {
  child: statement(
    'child_decided_on',
    `SELECT ${HAS_GUARDIAN} AS "hasGuardian" FROM "Person" child CROSS JOIN "Organisation" organisation
      WHERE child.id = $child AND organisation.id = $club AND ${IS_BELOW_AGE}`,
    { child: text, club: text, at: instant, birthdays },
    { hasGuardian: bool },
  ),
  guardian: statement(
    'child_guardian',
    `SELECT "guardianId" FROM "Guardian" WHERE "childId" = $child AND "guardianId" = $person AND ${IS_IN_FORCE} FOR SHARE`,
    { child: text, person: text, at: instant },
    { guardianId: text },
  ),
}

/** The role ends after the transaction at the earliest. Nobody decides for themselves. */
async function holdDecider(tx: Transaction, { child, club }: ChildApp, { person, as, at, ages }: By) {
  const values = { child, club, at, birthdays: findBirthdays(ages, at.getTime()) }
  const [found] = await executeIn(tx, statements.child, values)
  if (!found || person === child || (as === 'administrator' && found.hasGuardian)) throw errors.addressUnknown()
  if (as === 'administrator') return holdAdministrator(tx, club, person, at)
  const rows = await executeIn(tx, statements.guardian, { child, person, at })
  if (rows.length === 0) throw errors.addressUnknown()
}
