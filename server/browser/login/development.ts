import type { Database } from '../../../prisma/client.ts'

/** Everyone but the invented members of test clubs. */
const real = { memberships: { none: { organisation: { testTeamId: { not: null } } } } }

/** Everyone in the database, by name. Only for an embedded database with demo data: it reads the whole table. */
export async function selectableMembers(db: Database): Promise<{ id: string; name: string }[]> {
  const persons = await db.person.findMany({
    where: real,
    orderBy: [{ firstName: 'asc' }, { lastName: 'asc' }, { id: 'asc' }],
  })
  return persons.map(({ id, firstName, lastName }) => ({ id, name: `${firstName} ${lastName}`.trim() }))
}

export const selectableMember = (db: Database, id: string) => db.person.findFirst({ where: { id, ...real } })
