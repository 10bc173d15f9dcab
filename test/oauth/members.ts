import type { Database, Transaction } from '../../prisma/client.ts'
import { id } from '../support/tenant.ts'

/** Creates a person, by default a member of one club. */
export async function createMember(
  db: Database | Transaction,
  { email, firstName = 'Mia', member = true, leftAt = null }: PersonOptions,
): Promise<string> {
  const person = id('person')
  const club = id('club')
  // One statement in place of three of Prisma, which take 10 ms.
  await db.$executeRaw`
    WITH person AS (
      INSERT INTO "Person" (id, "firstName", "lastName", email) VALUES (${person}, ${firstName}, 'Member', ${email})
    ), club AS (
      INSERT INTO "Organisation" (id, kind, name) SELECT ${club}, 'club', 'Club' WHERE ${member}::boolean
    )
    INSERT INTO "Membership" ("organisationId", "personId", "leftAt")
    SELECT ${club}, ${person}, ${leftAt}::timestamptz WHERE ${member}::boolean`
  return person
}

interface PersonOptions {
  email: string
  firstName?: string
  member?: boolean
  leftAt?: Date | null
}
