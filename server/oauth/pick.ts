import type { Database } from '../../prisma/client.ts'

/** Everybody there is, by name: fit for the demo data of an embedded database, and for nothing else. */
export async function pickable(db: Database): Promise<{ id: string; name: string }[]> {
  const persons = await db.person.findMany({ orderBy: [{ firstName: 'asc' }, { lastName: 'asc' }, { id: 'asc' }] })
  return persons.map(({ id, firstName, lastName }) => ({ id, name: `${firstName} ${lastName}` }))
}
