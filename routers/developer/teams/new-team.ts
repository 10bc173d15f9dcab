import type { Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { int, statement, text } from '../../../prisma/pg/statement.ts'
import { errors } from '../../kernel/errors.ts'
import type { Author, Note } from '../audit/record.ts'

/** That a person may own when they create another one. */
export const MAX_TEAMS = 3

const statements = {
  hold: statement(
    'person_hold',
    'SELECT id FROM "Person" WHERE id = $person FOR NO KEY UPDATE',
    { person: text },
    { id: text },
  ),
  owned: statement(
    'teams_owned',
    `SELECT count(*)::int8 AS teams FROM "TeamMember" WHERE "personId" = $person AND role = 'owner'`,
    { person: text },
    { teams: int },
  ),
}

/** Serialises what is done about new teams of a person. Throws 404. */
export async function holdPerson(tx: Transaction, person: string): Promise<void> {
  const [found] = await executeIn(tx, statements.hold, { person })
  if (!found) throw errors.personUnknown()
}

/** The same for one who may get another team. Throws 409. */
export async function holdFounder(tx: Transaction, person: string): Promise<void> {
  await holdPerson(tx, person)
  if ((await countOwned(tx, person)) >= MAX_TEAMS) throw errors.tooManyTeams()
}

async function countOwned(tx: Transaction, person: string): Promise<number> {
  const [row] = await executeIn(tx, statements.owned, { person })
  return row!.teams
}

interface NewTeam {
  id: string
  name: string
  /** Its owner, who is held. */
  person: string
  author: Author
}

/** A team of the Hobby level. */
export async function foundTeam(tx: Transaction, note: Note, { id, name, person, author }: NewTeam): Promise<void> {
  const level = 'hobby' as const
  await tx.team.create({ data: { id, name, level }, select: { id: true } })
  await note({ team: id, action: 'team.create', target: id, after: { name, level } })
  await tx.teamMember.create({
    data: { teamId: id, personId: person, role: 'owner', since: author.at },
    select: { teamId: true },
  })
  await note({ team: id, action: 'person.join', target: person, after: { role: 'owner' } })
}
