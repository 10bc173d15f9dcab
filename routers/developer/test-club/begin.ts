import type { Transactional } from '../../../prisma/pg/execute.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, statement, text } from '../../../prisma/pg/statement.ts'
import { errors } from '../../kernel/errors.ts'
import { HOUR_MS, retryAfterSeconds } from '../../kernel/time.ts'
import type { Caller } from '../access/roles.ts'
import { lockTeamAs } from '../access/roles.ts'
import { subscribeToTestClub } from '../webhook/test-subscription.ts'

/** Changes of a team's test club in an hour. */
const CHANGES_AN_HOUR = 60

/** A team's people, and its clients, have at most 1,000 entries of a day each: these are all of an hour. */
const last = statement(
  'test_club_last_of_hour',
  `SELECT at FROM (SELECT id, action, at FROM "AuditEntry" WHERE "teamId" = $team ORDER BY id DESC LIMIT 2000) entry
    WHERE action LIKE 'testClub.%' AND at > $since ORDER BY at DESC OFFSET ${CHANGES_AN_HOUR - 1} LIMIT 1`,
  { team: text, since: instant },
  { at: instant },
)

/**
 * Before a change of a team's test club that its apps are to hear of: locks the team, and has its apps with a webhook get these
 * events. Throws 404 for other people, and 429 beyond the limit; each change needs an entry `testClub.*` in the audit log.
 */
export async function beginChange(tx: Transactional, ctx: Caller, team: string): Promise<void> {
  await lockTeamAs(tx, ctx, { team })
  const { core } = ctx
  const since = core.now() - HOUR_MS
  const [first] = await executeIn(tx, last, { team, since })
  if (first) throw errors.testClubLimited(retryAfterSeconds(first.at.getTime() - since))
  await subscribeToTestClub(tx, core, team)
}
