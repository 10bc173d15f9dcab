import type { Database } from '../../../prisma/client.ts'
import { fullName, labelItems } from '../../../routers/kernel/labels.ts'

/** Excludes the invented members of test clubs. */
const real = { memberships: { none: { organisation: { testTeamId: { not: null } } } } }

/** All people in the database, by name. Reads the whole table, so only for an embedded database with demo data. */
export async function selectableMembers(db: Database): Promise<{ id: string; name: string }[]> {
  const persons = await db.person.findMany({
    where: real,
    orderBy: [{ firstName: 'asc' }, { lastName: 'asc' }, { id: 'asc' }],
  })
  const named = persons.map((person) => ({ id: person.id, name: fullName(person), birthday: person.birthday }))
  const labels = labelItems(named, ({ birthday }) => [birthday && String(birthday.getUTCFullYear())])
  return [...labels].map(([id, name]) => ({ id, name }))
}

export const selectableMember = (db: Database, id: string) => db.person.findFirst({ where: { id, ...real } })
