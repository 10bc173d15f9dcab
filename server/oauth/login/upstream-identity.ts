import type { Database } from '../../../prisma/client.ts'
import { comparableEmail } from './address.ts'
import type { Person } from './persons.ts'
import { membersWithEmail, memberWithId, named } from './persons.ts'

/** The members that an upstream account may sign in as: the linked one, or else those with its verified address. */
export async function personsOf(
  db: Database,
  { issuer, subject, email }: { issuer: string; subject: string; email: string | null },
  now: number,
): Promise<Person[]> {
  const identity = await db.loginIdentity.findUnique({ where: { of: { issuer, subject } } })
  if (identity) return named(await memberWithId(db, identity.personId, now))
  const comparable = email === null ? null : comparableEmail(email)
  return comparable === null ? [] : named(await membersWithEmail(db, comparable, now))
}

/** Links an upstream account to a member, whatever becomes of their e-mail address. An existing link stays. */
export async function saveIdentity(
  db: Database,
  { issuer, subject }: { issuer: string; subject: string },
  person: string,
): Promise<void> {
  await db.loginIdentity.createMany({ data: { issuer, subject, personId: person }, skipDuplicates: true })
}
