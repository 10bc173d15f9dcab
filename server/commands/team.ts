import { addTeam, inviteToTeam, listTeams, setLevel } from '../admin/teams.ts'
import { readSettings } from '../process/command-settings.ts'
import type { Values } from './arguments.ts'
import { oneOf, parseAction, text } from './arguments.ts'
import type { Io } from './command.ts'
import { command, UsageError } from './command.ts'
import { withDatabase } from './database.ts'
import { table } from './table.ts'

const usage = `Usage:
  npm run -s team -- add --id ID --name NAME --level hobby|developer [--owner EMAIL]
  npm run -s team -- invite --team TEAM --email EMAIL [--role owner|developer]
  npm run -s team -- level --team TEAM --level hobby|developer
  npm run -s team -- list

The person who signs in with the e-mail address within 7 days can join the team: as its owner, unless --role says otherwise.
`

const actions = {
  add: { id: text, name: text, level: text, owner: text },
  invite: { team: text, email: text, role: text },
  level: { team: text, level: text },
  list: {},
} as const

const levels = ['hobby', 'developer'] as const

export const run = command(usage, async (argv, io) => {
  const { action, values } = parseAction(argv, actions)
  if (action === 'list') await list(io)
  else if (action === 'add') await add(values, io)
  else if (action === 'invite') await invite(values, io)
  else await changeLevel(values, io)
})

async function add({ id, name, level, owner }: Values<typeof actions.add>, io: Io) {
  if (!id || !name || !level) throw new UsageError('--id, --name and --level are required.')
  const team = { id, name, level: oneOf('level', level, levels) }
  await withDatabase(io, async (db) => {
    await addTeam(db, team, new Date())
    io.stdout.write(`The team ${id} was added.\n`)
    if (owner) tell(await inviteToTeam(db, { team: id, email: owner, role: 'owner' }, new Date()), id, io)
  })
}

async function invite({ team, email, role }: Values<typeof actions.invite>, io: Io) {
  if (!team || !email) throw new UsageError('--team and --email are required.')
  const invited = { team, email, role: oneOf('role', role ?? 'owner', ['owner', 'developer']) }
  await withDatabase(io, async (db) => tell(await inviteToTeam(db, invited, new Date()), team, io))
}

type Invitation = Awaited<ReturnType<typeof inviteToTeam>>

function tell({ email, role, expiresAt }: Invitation, team: string, { env, stdout }: Io) {
  const until = new Date(expiresAt * 1000).toISOString().slice(0, 10)
  const portal = `${readSettings(env, 'authBaseUrl').authBaseUrl}/oauth/developers`
  stdout.write(
    `${email} is invited to the team ${team} as ${role} until ${until}. No e-mail was sent: ask them to sign in\n`,
  )
  stdout.write(`with this address at ${portal} and accept\n`)
}

async function changeLevel({ team, level }: Values<typeof actions.level>, io: Io) {
  if (!team || !level) throw new UsageError('--team and --level are required.')
  const wanted = oneOf('level', level, levels)
  await withDatabase(io, (db) => setLevel(db, team, wanted, new Date()))
  io.stdout.write(`The team ${team} now has the level ${wanted}.\n`)
}

async function list(io: Io) {
  const teams = await withDatabase(io, listTeams)
  const heads = ['ID', 'NAME', 'LEVEL', 'PEOPLE', 'APPS', 'CLIENTS', 'OWNERS'].map((head) => [head])
  const rows = teams.map(({ id, name, level, people, _count }) => [
    ...[id, name, level, _count.people, _count.apps, _count.clients].map((cell) => [String(cell)]),
    people.length > 0 ? people.map(({ personId }) => personId) : ['-'],
  ])
  io.stdout.write(table([heads, ...rows]))
}
