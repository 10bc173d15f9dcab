import type { Database, Transaction } from '../../../prisma/client.ts'
import type { Context } from '../../kernel/context.ts'
import type { ApiError } from '../../kernel/errors.ts'
import { errors } from '../../kernel/errors.ts'

export type Caller = Context & { person: string }
export type Role = 'owner' | 'developer'

/** The caller's role in the team. Throws 404 for a team of other people, and 403 where an owner is needed. */
export async function roleIn(ctx: Caller, team: string, needed: Role = 'developer'): Promise<Role> {
  const role = await roleOf(ctx.core.db, ctx.person, { team, needed })
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

async function roleOf(
  db: Database | Transaction,
  person: string,
  { team, needed = 'developer', unknown = errors.teamUnknown }: Wanted,
) {
  const member = await db.teamMember.findUnique({ where: { of: { teamId: team, personId: person } } })
  if (!member) throw unknown()
  if (needed === 'owner' && member.role !== 'owner') throw errors.ownerNeeded()
  return member.role
}

/** Condition on an app or client: it belongs to one of the person's teams. */
export const memberOf = (person: string) => ({ team: { people: { some: { personId: person } } } })

export async function teamOfApp(ctx: Caller, app: string): Promise<string> {
  const { core, person } = ctx
  const found = await core.db.app.findFirst({ where: { id: app, ...memberOf(person) }, select: { teamId: true } })
  if (!found) throw errors.ownAppUnknown()
  await countTeam(ctx, found.teamId)
  return found.teamId
}

/** The client's team. Throws 404 for a client of other people or of the platform, and 403 where an owner is needed. */
export async function teamOfClient(ctx: Caller, client: string, needed: Role = 'developer'): Promise<string> {
  const { core, person } = ctx
  const found = await core.db.client.findFirst({ where: { id: client, ...memberOf(person) }, select: { teamId: true } })
  if (!found?.teamId) throw errors.clientUnknown()
  if (needed === 'owner') await roleOf(core.db, person, { team: found.teamId, needed })
  await countTeam(ctx, found.teamId)
  return found.teamId
}

/** Serialises changes to a team's people, apps and clients. */
export const lockTeam = (tx: Transaction, team: string) =>
  tx.$executeRaw`SELECT FROM "Team" WHERE id = ${team} FOR NO KEY UPDATE`

/**
 * Locks the team for a change by one of its people. Their role is read under the lock, as it may have been removed since the call
 * began. A stranger has been refused before, without a lock.
 */
export async function lockTeamAs(tx: Transaction, { person }: Caller, wanted: Wanted): Promise<void> {
  await lockTeam(tx, wanted.team)
  await roleOf(tx, person, wanted)
}
