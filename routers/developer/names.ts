import { randomInt } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** An id of ours, as `c_` and 20 letters. Members trust names by ids, so nobody chooses one. */
export const newId = (kind: 'a' | 'c' | 'i' | 'p' | 't') =>
  `${kind}_${Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`

export const fullName = ({ firstName, lastName }: { firstName: string; lastName: string }) =>
  `${firstName} ${lastName}`.trim()

/** The names of these people, by id; null is the operator, and who is erased has none. */
export async function namesOf(db: Database, ids: readonly (string | null)[]): Promise<Map<string | null, string>> {
  const people = await db.person.findMany({ where: { id: { in: ids.flatMap((id) => id ?? []) } } })
  return new Map(people.map((person) => [person.id, fullName(person)]))
}
