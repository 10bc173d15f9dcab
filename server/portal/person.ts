import type { Database } from '../../prisma/client.ts'
import { json, statement, text } from '../../prisma/pg/statement.ts'
import { personLabel } from '../../routers/kernel/labels.ts'

/** Teams that each page lists; all are on the first page. */
export const TEAMS_SHOWN = 10

const reader = statement(
  'portal_person',
  `SELECT ${personLabel('"Person"')} AS name, email,
    (SELECT coalesce(json_agg(team), '[]') FROM (SELECT team.id, team.name FROM "Team" team JOIN "TeamMember" ON team.id = "teamId"
      WHERE "personId" = "Person".id ORDER BY team.name, team.id LIMIT ${TEAMS_SHOWN}) team) AS teams
    FROM "Person" WHERE id = $person`,
  { person: text },
  { name: text, email: text, teams: json<{ id: string; name: string }[]>() },
)

/** The person's name, address and first teams, which are on each page; undefined for an unknown person. */
export async function readPerson(db: Database, person: string) {
  const [found] = await db.execute(reader, { person })
  return found && { id: person, ...found }
}
