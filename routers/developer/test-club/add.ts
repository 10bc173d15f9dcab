import type { Transaction } from '../../../prisma/client.ts'
import { newId } from '../shared/names.ts'
import type { TestClub } from './content.ts'
import { people } from './content.ts'
import { addEntries, fill } from './fill.ts'

export interface OfTeam {
  id: string
  name: string
}

/**
 * Creates the team's test club, unless it has one, and example entries of the app. The team's people sign in as its invented
 * members in their sandbox clients. The team is locked.
 */
export async function addTestClub(tx: Transaction, team: OfTeam, { app, now }: { app: string | null; now: Date }) {
  const club = await tx.organisation.findFirst({ where: { testTeamId: team.id, kind: 'club' }, select: { id: true } })
  if (!club) await fill(tx, await completeTestClub(tx, team, now), now)
  else if (app !== null) await addEntries(tx, club.id, [app], now)
}

/**
 * Creates what is missing of the club, academy, provider and its app, and members; those who have left return. The team is
 * locked.
 */
export async function completeTestClub(tx: Transaction, team: OfTeam, now: Date): Promise<TestClub> {
  const of = { testTeamId: team.id }
  const found = await tx.organisation.findMany({ where: of, select: { id: true, kind: true } })
  const findId = (kind: (typeof found)[number]['kind']) => found.find((one) => one.kind === kind)?.id ?? newId('t')
  const [club, academy, provider] = [findId('club'), findId('academy'), findId('provider')]
  await tx.organisation.createMany({
    data: [
      { id: club, kind: 'club', name: `Test club of ${team.name}`, ...of },
      { id: academy, kind: 'academy', name: `Test academy of ${team.name}`, ...of },
      { id: provider, kind: 'provider', name: `Test provider of ${team.name}`, ...of },
    ],
    skipDuplicates: true,
  })
  if ((await tx.app.count({ where: { teamId: team.id, providerId: provider } })) === 0) {
    const app = { id: newId('a'), name: 'Test app', teamId: team.id, providerId: provider }
    await tx.app.create({ data: app, select: { id: true } })
  }

  const persons = await tx.person.findMany({
    where: { memberships: { some: { organisationId: club } } },
    select: { id: true, firstName: true },
  })
  const member = async (name: keyof typeof people) => {
    const { firstName, ...rest } = people[name]
    const id = persons.find((person) => person.firstName === firstName)?.id ?? newId('t')
    const data = { firstName, ...rest }
    await tx.person.upsert({ where: { id }, create: { id, ...data }, update: data, select: { id: true } })
    return id
  }
  const members = { alex: await member('alex'), kim: await member('kim'), robin: await member('robin') }
  await tx.membership.createMany({
    data: [club, academy, provider].flatMap((organisationId) =>
      Object.values(members).map((personId) => ({ organisationId, personId, joinedAt: now })),
    ),
    skipDuplicates: true,
  })
  await tx.membership.updateMany({
    where: { organisation: of, leftAt: { not: null } },
    data: { joinedAt: now, leftAt: null },
  })
  return { team: team.id, club, academy, provider, members }
}
