import type { Database } from '../../../prisma/client.ts'
import { offerInvitations } from '../../../routers/developer/teams/invited.ts'
import { comparableEmail } from '../../../routers/kernel/email-address.ts'
import type { Person } from './persons.ts'
import { named, personsOrInvited, personWithId } from './persons.ts'

/**
 * The members that an upstream account may sign in as: the linked one, or else members with its verified address or an invitation
 * to it.
 */
export async function findPersons(
  db: Database,
  { issuer, subject, email }: { issuer: string; subject: string; email: string | null },
  now: number,
): Promise<Person[]> {
  const identity = await db.loginIdentity.findUnique({ where: { of: { issuer, subject } } })
  const comparable = email === null ? null : comparableEmail(email)
  if (identity) {
    if (comparable !== null) await offerInvitations(db, { email: comparable, now: new Date(now) }, identity.personId)
    return named(await personWithId(db, identity.personId, now))
  }
  return comparable === null ? [] : personsOrInvited(db, comparable, now)
}

/** The link is independent of the member's e-mail address. An existing link stays. */
export async function saveIdentity(
  db: Database,
  { issuer, subject }: { issuer: string; subject: string },
  person: string,
): Promise<void> {
  await db.loginIdentity.createMany({ data: { issuer, subject, personId: person }, skipDuplicates: true })
}
