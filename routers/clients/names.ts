import { randomInt } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** An internal id: `c_` and 20 letters. Members trust names by ids, so nobody can choose one. */
export const newId = (kind: 'a' | 'c' | 'i' | 'p' | 's' | 't') =>
  `${kind}_${Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`

export const fullName = ({ firstName, lastName }: { firstName: string; lastName: string }) =>
  `${firstName} ${lastName}`.trim()

/** Names by id of everything that an audit entry can be about: a team's apps, clients and people. */
export async function targetNames(db: Database, teamId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const where = { teamId, id: { in: [...ids] } }
  const select = { id: true, name: true }
  const [apps, clients, members] = await Promise.all([
    db.app.findMany({ where, select }),
    db.client.findMany({ where, select }),
    db.teamMember.findMany({
      where: { teamId, personId: { in: [...ids] } },
      select: { person: { select: { id: true, firstName: true, lastName: true } } },
    }),
  ])
  const people = members.map(({ person }) => ({ id: person.id, name: fullName(person) }))
  return new Map([...apps, ...clients, ...people].map(({ id, name }) => [id, name]))
}

export async function clientNames(db: Database, teamId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const where = { teamId, id: { in: [...new Set(ids)] } }
  const rows = await db.client.findMany({ where, select: { id: true, name: true } })
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Names by id; null is the operator, and an erased person has none. */
export async function namesOf(db: Database, ids: readonly (string | null)[]): Promise<Map<string | null, string>> {
  const people = await db.person.findMany({ where: { id: { in: ids.flatMap((id) => id ?? []) } } })
  return new Map(people.map((person) => [person.id, fullName(person)]))
}
