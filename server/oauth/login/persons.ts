import type { Database } from '../../../prisma/client.ts'
import type { Field } from '../../../prisma/pg/execute.ts'

export interface Person {
  id: string
  name: string
}

const columns = `"Person".id, "firstName" || ' ' || "lastName" AS name, email`
const isMember = `EXISTS (SELECT FROM "Membership"
  WHERE "personId" = "Person".id AND ("leftAt" IS NULL OR "leftAt" > $2))`

const withEmail = {
  name: 'login_with_email',
  text: `SELECT ${columns} FROM "Person" WHERE lower(email) = $1 AND ${isMember} ORDER BY name, id`,
}

const withId = {
  name: 'login_with_id',
  text: `SELECT ${columns} FROM "Person" WHERE id = $1 AND ${isMember}`,
}

/** The members who have this address, which comes as `comparableEmail` gives it; `email` is theirs, as it was entered. */
export const membersWithEmail = (db: Database, email: string, now: number) =>
  db.execute(withEmail, [email, new Date(now).toISOString()]).then(persons)

/** The person, as a list; empty when they are a member nowhere. */
export const memberWithId = (db: Database, id: string, now: number) =>
  db.execute(withId, [id, new Date(now).toISOString()]).then(persons)

const persons = (rows: Field[][]) =>
  (rows as string[][]).map(([id, name, email]) => ({ id: id!, name: name!, email: email! }))

export const named = (persons: Person[]): Person[] => persons.map(({ id, name }) => ({ id, name }))
