import type { Database } from '../../../prisma/client.ts'

/** Excludes the invented members of test clubs. */
const real = { memberships: { none: { organisation: { testTeamId: { not: null } } } } }

/** All people in the database, by name. Reads the whole table, so only for an embedded database with demo data. */
export async function selectableMembers(db: Database): Promise<{ id: string; name: string }[]> {
  const persons = await db.person.findMany({
    where: real,
    orderBy: [{ firstName: 'asc' }, { lastName: 'asc' }, { id: 'asc' }],
  })
  return persons.map(({ id, firstName, lastName }) => ({ id, name: `${firstName} ${lastName}`.trim() }))
}

export const selectableMember = (db: Database, id: string) => db.person.findFirst({ where: { id, ...real } })
