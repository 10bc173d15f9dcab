import type { Transactional } from '../../../prisma/pg/execute.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import type { Context } from '../../kernel/context.ts'
import type { ApiError } from '../../kernel/errors.ts'
import { errors } from '../../kernel/errors.ts'

export type Caller = Context & { person: string }
export type Role = 'owner' | 'developer'

const role = oneOf('owner', 'developer')

/** Not through Prisma, whose five to ten queries took most of a portal page's CPU time (npm run bench -- pages). */
const statements = {
  lock: statement('team_lock', 'SELECT FROM "Team" WHERE id = $team FOR NO KEY UPDATE', { team: text }, {}),
  role: statement(
    'team_role',
    `SELECT role FROM "TeamMember" WHERE "teamId" = $team AND "personId" = $person`,
    { team: text, person: text },
    { role },
  ),
  byApp: statement(
    'team_of_app',
    `SELECT "teamId" AS team FROM "App" JOIN "TeamMember" USING ("teamId") WHERE id = $app AND "personId" = $person`,
    { app: text, person: text },
    { team: text },
  ),
  byClient: statement(
    'team_of_client',
    `SELECT "teamId" AS team, role FROM "Client" JOIN "TeamMember" USING ("teamId") WHERE id = $client AND "personId" = $person`,
    { client: text, person: text },
    { team: text, role },
  ),
}

/** The caller's role in the team. Throws 404 for a team of other people, and 403 where an owner is needed. */
export async function roleIn(ctx: Caller, team: string, needed: Role = 'developer'): Promise<Role> {
  const [found] = await ctx.core.db.execute(statements.role, { team, person: ctx.person })
  const role = checkedRole(found, { needed })
  await countTeam(ctx, team)
  return role
}

/** Counts a call once its person is known to be in the team: a stranger cannot use up its limit. Throws 429 and 503. */
export const countTeam = async ({ call }: Context, team: string) => call.countPeople?.('team', team)

interface Wanted {
  team: string
  needed?: Role
  /** Thrown for people who are not in the team. */
  unknown?: () => ApiError
}

function checkedRole(
  found: { role: Role } | null | undefined,
  { needed, unknown = errors.teamUnknown }: Omit<Wanted, 'team'>,
) {
  if (!found) throw unknown()
  if (needed === 'owner' && found.role !== 'owner') throw errors.ownerNeeded()
  return found.role
}

export async function teamOfApp(ctx: Caller, app: string): Promise<string> {
  const { core, person } = ctx
  const [found] = await core.db.execute(statements.byApp, { app, person })
  if (!found) throw errors.ownAppUnknown()
  await countTeam(ctx, found.team)
  return found.team
}

/** The client's team. Throws 404 for a client of other people or of the platform, and 403 where an owner is needed. */
export async function teamOfClient(ctx: Caller, client: string, needed: Role = 'developer'): Promise<string> {
  const { core, person } = ctx
  const [found] = await core.db.execute(statements.byClient, { client, person })
  if (!found) throw errors.clientUnknown()
  checkedRole(found, { needed })
  await countTeam(ctx, found.team)
  return found.team
}

/** Serialises changes to a team's people, apps and clients. */
export const lockTeam = (tx: Transactional, team: string) => executeIn(tx, statements.lock, { team })

/**
 * Locks the team for a change by one of its people. Their role is read under the lock, as it may have been removed since the call
 * began. A stranger has been refused before, without a lock.
 */
export async function lockTeamAs(tx: Transactional, { person }: Pick<Caller, 'person'>, wanted: Wanted): Promise<void> {
  const { team } = wanted
  await lockTeam(tx, team)
  const [found] = await executeIn(tx, statements.role, { team, person })
  checkedRole(found, wanted)
}
