import type { Transaction } from '../../prisma/client.ts'
import { newId } from './names.ts'

const FIRST_NAMES = ['Alex', 'Kim', 'Robin']

/**
 * Creates a team's club and academy with three invented members, unless it has them. The team's people sign in as these members
 * in its test clients. The team is locked.
 */
export async function addTestClub(tx: Transaction, team: { id: string; name: string }, now: Date): Promise<void> {
  if ((await tx.organisation.count({ where: { testTeamId: team.id } })) > 0) return
  const [club, academy, group] = [newId('t'), newId('t'), newId('t')]
  const people = FIRST_NAMES.map((firstName) => ({ id: newId('t'), firstName, lastName: 'Test', email: '' }))
  const [trainer] = people
  await tx.organisation.createMany({
    data: [
      { id: club, kind: 'club', name: `Test club of ${team.name}`, testTeamId: team.id },
      { id: academy, kind: 'academy', name: `Test academy of ${team.name}`, testTeamId: team.id },
    ],
  })
  await tx.person.createMany({ data: people })
  await tx.membership.createMany({
    data: [club, academy].flatMap((organisationId) =>
      people.map(({ id }) => ({ organisationId, personId: id, joinedAt: now })),
    ),
  })
  await tx.group.createMany({ data: [{ id: group, clubId: club, name: 'Test group' }] })
  await tx.groupMembership.createMany({
    data: people.map(({ id }) => ({
      groupId: group,
      personId: id,
      role: id === trainer!.id ? ('trainer' as const) : ('member' as const),
    })),
  })
}
