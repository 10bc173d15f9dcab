import type { Database } from '../../../prisma/client.ts'
import { statement, text } from '../../../prisma/pg/statement.ts'

export interface Person {
  id: string
  name: string
}

const select = `SELECT "Person".id, "firstName" || ' ' || "lastName" AS name, email FROM "Person"`
const isMember = `EXISTS (SELECT FROM "Membership"
  WHERE "personId" = "Person".id AND ("leftAt" IS NULL OR "leftAt" > $2))`
const columns = { id: text, name: text, email: text }

const withEmail = statement(
  'login_with_email',
  `${select} WHERE lower(email) = $1 AND ${isMember} ORDER BY name, id`,
  columns,
)

const withId = statement('login_with_id', `${select} WHERE id = $1 AND ${isMember}`, columns)

/** Members with this address (in the form of `comparableEmail`); `email` is the address as stored. */
export const membersWithEmail = (db: Database, email: string, now: number) =>
  db.execute(withEmail, [email, new Date(now).toISOString()])

/** The person in a list; empty if they are not a member of any organisation. */
export const memberWithId = (db: Database, id: string, now: number) =>
  db.execute(withId, [id, new Date(now).toISOString()])

export const named = (persons: Person[]): Person[] => persons.map(({ id, name }) => ({ id, name }))
