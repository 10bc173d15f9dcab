import type { Database } from '../../prisma/client.ts'
import { id } from '../support/tenant.ts'

/** Creates a person, by default a member of one club. */
export async function createMember(
  db: Database,
  { email, firstName = 'Mia', member = true, leftAt = null }: PersonOptions,
): Promise<string> {
  const person = id('person')
  await db.person.create({ data: { id: person, firstName, lastName: 'Member', email } })
  if (member) {
    const club = id('club')
    await db.organisation.create({ data: { id: club, kind: 'club', name: 'Club' } })
    await db.membership.create({ data: { organisationId: club, personId: person, leftAt } })
  }
  return person
}

interface PersonOptions {
  email: string
  firstName?: string
  member?: boolean
  leftAt?: Date | null
}
