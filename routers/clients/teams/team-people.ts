import { z } from 'zod'
import type { Database } from '../../../prisma/client.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { toUnix } from '../../kernel/time.ts'
import { fullName, namesOf } from '../names.ts'
import { memberColumns, toPerson } from '../rows.ts'
import { idOr, invitationOutput, more, personOutput, testMember } from '../shapes.ts'
import { roleIn } from './team-of.ts'

const team = idOr('teamUnknown')

/** Above a team's limit (invitations.ts). */
const MAX_INVITATIONS = 200

export const invitations = z.array(invitationOutput).meta({ description: 'Invitations that can still be accepted' })
export const testMembers = z.array(testMember).meta({ description: 'Empty before the first sandbox client' })

export const listPeople = internal('dev:read', teamPeople, {
  summary: 'The people of a team, and who is invited',
  fails: ['teamUnknown'],
})
  .input(z.object({ team, ...page }))
  .output(z.object({ items: z.array(personOutput), more, invitations }))
  .query(async ({ ctx, input: { team, limit, offset } }) => {
    await roleIn(ctx, team)
    const { db, now } = ctx.core
    const [rows, invitations] = await Promise.all([
      peopleOf(db, team, { take: limit + 1, skip: offset }),
      invitationsOf(db, team, now()),
    ])
    return { items: rows.slice(0, limit), more: rows.length > limit, invitations }
  })

export const getPerson = internal('dev:read', teamPeople, {
  summary: 'A person of a team',
  fails: ['teamUnknown', 'colleagueUnknown'],
})
  .input(z.object({ team, person: idOr('colleagueUnknown') }))
  .output(personOutput)
  .query(async ({ ctx, input: { team: teamId, person: personId } }) => {
    await roleIn(ctx, teamId)
    const of = { teamId, personId }
    const found = await ctx.core.db.teamMember.findUnique({ where: { of }, select: memberColumns })
    if (!found) throw errors.colleagueUnknown()
    return toPerson(found)
  })

export async function peopleOf(db: Database, teamId: string, page: { take: number; skip?: number }) {
  const orderBy = [{ since: 'asc' as const }, { personId: 'asc' as const }]
  const rows = await db.teamMember.findMany({ where: { teamId }, select: memberColumns, orderBy, ...page })
  return rows.map(toPerson)
}

export async function invitationsOf(db: Database, teamId: string, now: number) {
  const rows = await db.teamInvitation.findMany({
    where: { teamId, acceptedAt: null, expiresAt: { gt: new Date(now) } },
    select: { id: true, email: true, role: true, invitedBy: true, expiresAt: true },
    orderBy: [{ expiresAt: 'asc' }, { id: 'asc' }],
    take: MAX_INVITATIONS,
  })
  const names = await namesOf(
    db,
    rows.map(({ invitedBy }) => invitedBy),
  )
  return rows.map(({ invitedBy, expiresAt, ...one }) => ({
    ...one,
    invitedBy: names.get(invitedBy) ?? null,
    expiresAt: toUnix(expiresAt),
  }))
}

export async function testMembersOf(db: Database, team: string) {
  const rows = await db.person.findMany({
    where: { memberships: { some: { organisation: { testTeamId: team } } } },
    select: { id: true, firstName: true, lastName: true },
    orderBy: [{ firstName: 'asc' }, { id: 'asc' }],
  })
  return rows.map((person) => ({ id: person.id, name: fullName(person) }))
}
