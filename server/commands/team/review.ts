import type { Database } from '../../../prisma/client.ts'
import { approveTeam, listTeamRequests, refuseTeam } from '../../../routers/developer/teams/requests.ts'
import { fullName } from '../../../routers/kernel/labels.ts'
import type { Io } from '../line/command.ts'
import { action } from '../line/command.ts'
import { withDatabase } from '../line/database.ts'
import { parseNumber, parseReason } from '../line/review-options.ts'
import { printable } from '../line/table.ts'

const id = ['--id <ID>', 'the id of the team'] as const
const VERSION = 'the version that you have read, as requests prints it; another one is not decided on'

/** What people have asked for where TEAM_SIGNUP is `request`. */
export const requests = action(
  {
    about: 'lists the teams that people ask for, with the line that approves exactly that',
    async run(_values, io) {
      const found = await withDatabase(io, listTeamRequests)
      return found.map(({ id, version, name, purpose, requestedAt, person }) => ({
        id,
        version,
        name,
        purpose,
        requestedAt,
        person: { id: person.id, name: fullName(person), email: person.email },
      }))
    },
  },
  {
    json: '[{ id, version, name, purpose, requestedAt, person }]',
    text: (found) => found.map(described).join('\n') || 'Nobody is waiting for a team.\n',
  },
)

interface Described {
  id: string
  version: number
  name: string
  purpose: string
  person: { name: string; email: string }
}

const described = ({ id, version, name, purpose, person }: Described) =>
  [
    `New team ${printable(name)} of ${printable(person.name)} (${printable(person.email)})`,
    `  purpose: ${printable(purpose.replaceAll(/\s+/g, ' '))}`,
    `  member-apps team approve --id ${id} --version ${version}\n`,
  ].join('\n')

export const approve = action(
  {
    about: 'creates the requested team, of the Hobby level, with the person as owner',
    declare: (line) => line.requiredOption(...id).requiredOption('--version <N>', VERSION),
    async run({ id, version }, io) {
      const read = parseNumber('version', version)!
      return decided(io, (db) => approveTeam(db, { id, version: read }, new Date()))
    },
  },
  { json: '{ id, name }', text: ({ id }) => `Approved: the team ${id} was added.\n` },
)

export const refuse = action(
  {
    about: 'refuses it, with a reason',
    declare: (line) =>
      line
        .requiredOption(...id)
        .requiredOption('--reason <TEXT>', 'what the person reads')
        .option('--version <N>', VERSION),
    async run({ id, reason, version }, io) {
      const read = parseNumber('version', version)
      const said = parseReason(reason)
      return decided(io, (db) => refuseTeam(db, { id, version: read }, said, new Date()))
    },
  },
  { json: '{ id, name }', text: ({ id }) => `Refused: the request for the team ${id}\n` },
)

const decided = (io: Io, change: (db: Database) => Promise<{ id: string; name: string }>) => withDatabase(io, change)
