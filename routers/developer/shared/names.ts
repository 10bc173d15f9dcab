import { randomInt } from 'node:crypto'
import type { Database } from '../../../prisma/client.ts'
import { statement, text, texts } from '../../../prisma/pg/statement.ts'
import { personLabel } from '../../kernel/labels.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** An internal id: `c_` and 20 letters. Members trust names by ids, so nobody can choose one. */
export const newId = (prefix: 'a' | 'c' | 'i' | 'p' | 's' | 't') =>
  `${prefix}_${Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`

const columns = { id: text, name: text }

const statements = {
  targets: statement(
    'names_of_targets',
    `SELECT id, name FROM "App" WHERE "teamId" = $team AND id = ANY ($ids::text[])
      UNION ALL SELECT id, name FROM "Client" WHERE "teamId" = $team AND id = ANY ($ids::text[])
      UNION ALL SELECT "Person".id, ${personLabel('"Person"')} FROM "TeamMember" JOIN "Person" ON "Person".id = "personId"
        WHERE "teamId" = $team AND "personId" = ANY ($ids::text[])`,
    { team: text, ids: texts },
    columns,
  ),
  people: statement(
    'names_of_people',
    `SELECT id, ${personLabel('"Person"')} AS name FROM "Person" WHERE id = ANY ($ids::text[])`,
    { ids: texts },
    columns,
  ),
}

const distinct = (ids: readonly (string | null)[]) => [...new Set(ids.flatMap((id) => id ?? []))]

const byId = (rows: readonly { id: string; name: string }[]) => new Map(rows.map(({ id, name }) => [id, name]))

/** Names by id of everything that an audit entry can be about: a team's apps, clients and people. */
export const targetNames = async (db: Database, team: string, ids: readonly string[]): Promise<Map<string, string>> =>
  byId(await db.execute(statements.targets, { team, ids: distinct(ids) }))

/** Names by id; null is the operator, and an erased person has none. */
export async function readNames(db: Database, ids: readonly (string | null)[]): Promise<Map<string | null, string>> {
  return byId(await db.execute(statements.people, { ids: distinct(ids) }))
}
