import type { Database } from '../../../prisma/client.ts'
import { instant, nullable, statement, text } from '../../../prisma/pg/statement.ts'
import { isInvited, personForInvited } from '../../../routers/developer/teams/invited.ts'
import { personLabel, withLabels } from '../../../routers/kernel/labels.ts'
import { fillMailboxes, hasMailbox } from '../../../routers/kernel/mailboxes.ts'

export interface Person {
  id: string
  name: string
}

const select = `SELECT "Person".id, ${personLabel('"Person"')} AS name, email, extract(year FROM birthday)::text AS year,
    (SELECT string_agg(name, ', ') FROM (SELECT name FROM "Membership" JOIN "Organisation" ON "Organisation".id = "organisationId"
      WHERE "personId" = "Person".id AND "leftAt" IS NULL AND "testTeamId" IS NULL ORDER BY name LIMIT 3) own) AS clubs
  FROM "Person"`
/** The invented members of test clubs cannot sign in. */
const isSomebody = `(EXISTS (SELECT FROM "TeamMember" WHERE "personId" = "Person".id)
  OR EXISTS (SELECT FROM "TeamInvitation" WHERE "personId" = "Person".id AND "acceptedAt" IS NULL AND "expiresAt" > $now)
  OR EXISTS (SELECT FROM "Membership" JOIN "Organisation" ON "Organisation".id = "organisationId"
    WHERE "personId" = "Person".id AND ("leftAt" IS NULL OR "leftAt" > $now) AND "testTeamId" IS NULL))`
const isInvented = `EXISTS (SELECT FROM "Membership" JOIN "Organisation" ON "Organisation".id = "organisationId"
  WHERE "personId" = "Person".id AND "testTeamId" IS NOT NULL)`
const columns = { id: text, name: text, email: text, year: nullable(text), clubs: nullable(text) }

const withEmail = statement(
  'login_with_email',
  `${select} WHERE ${hasMailbox('$email')} AND ${isSomebody} ORDER BY 2, 1`,
  { email: text, now: instant },
  columns,
)

const withAddress = statement(
  'login_with_address',
  `${select} WHERE ${hasMailbox('$email')} AND NOT ${isInvented} ORDER BY 2, 1`,
  { email: text },
  columns,
)

const nameStatement = statement(
  'person_name',
  `SELECT ${personLabel('"Person"')} AS name FROM "Person" WHERE id = $person`,
  { person: text },
  {
    name: text,
  },
)

const withId = statement(
  'login_with_id',
  `${select} WHERE "Person".id = $id AND ${isSomebody}`,
  { id: text, now: instant },
  columns,
)

/**
 * Returns members, and people in teams or invited to one; `email` is in the form of `comparableEmail`, and the result has the
 * address as stored.
 */
export async function personsWithEmail(db: Database, email: string, now: number) {
  await fillMailboxes(db)
  return db.execute(withEmail, { email, now })
}

/** Empty if the person is neither a member of an organisation nor in a team or invited to one. */
export const personWithId = (db: Database, id: string, now: number) => db.execute(withId, { id, now })

interface Found extends Person {
  year: string | null
  clubs: string | null
}

/** For a list to choose from: equal names are followed by the year of birth, then by clubs. */
export const named = (persons: Found[]): Person[] =>
  withLabels(persons, ({ year, clubs }) => [year, clubs]).map(({ id, name }) => ({ id, name }))

/** The address to send the code to: a person's as stored, or an invited one; null for an unknown address. */
export async function findAddress(db: Database, email: string, now: number): Promise<string | null> {
  const [person] = await personsWithEmail(db, email, now)
  if (person) return person.email
  return (await isInvited(db, { email, now: new Date(now) })) ? email : null
}

/** The address must be verified. An invited address that is new here becomes a person, who can then accept. */
export async function personsOrInvited(db: Database, email: string, now: number): Promise<Person[]> {
  const persons = await personsWithEmail(db, email, now)
  if (persons.length > 0) return named(persons)
  const invited = { email, now: new Date(now) }
  if (!(await isInvited(db, invited))) return []
  // They may have been members, or in a team, before.
  const former = await db.execute(withAddress, { email })
  if (former.length > 0) return named(former)
  const person = await personForInvited(db, invited)
  return person ? [person] : []
}

/** Null for an unknown person. */
export async function readFullName(db: Database, personId: string) {
  const [person] = await db.execute(nameStatement, { person: personId })
  return person?.name ?? null
}
