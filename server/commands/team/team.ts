import { Option } from '@commander-js/extra-typings'
import { addTeam, inviteToTeam, listTeams, setLevel } from '../../admin/teams.ts'
import { readSettings } from '../../process/command-settings.ts'
import { readAuthBaseUrl } from '../../process/running-address.ts'
import type { ActionIo, Command } from '../line/command.ts'
import { action } from '../line/command.ts'
import { withDatabase } from '../line/database.ts'
import { table } from '../line/table.ts'
import { approve, refuse, requests } from './review.ts'

const team = ['--team <TEAM>', 'the id of the team'] as const
const level = () =>
  new Option('--level <LEVEL>', 'the scopes that its clients may have')
    .choices(['hobby', 'developer'])
    .makeOptionMandatory()

const add = action(
  {
    about: 'adds a team',
    declare: (line) =>
      line
        .requiredOption('--id <ID>', 'the id of the team')
        .requiredOption('--name <NAME>', 'its name, which members read')
        .addOption(level())
        .option('--owner <EMAIL>', 'invites its first owner'),
    async run({ id, name, level, owner }, io) {
      return withDatabase(io, async (db) => {
        await addTeam(db, { id, name, level }, new Date())
        if (!owner) return { id, invitation: null }
        // The team stays when the invitation is refused.
        io.stdout.write(addedText(id))
        return {
          id,
          invitation: await invited(
            await inviteToTeam(db, { team: id, email: owner, role: 'owner' }, new Date()),
            id,
            io,
          ),
        }
      })
    },
  },
  {
    json: '{ id, invitation }',
    text: ({ id, invitation }) => (invitation ? invitationText(invitation) : addedText(id)),
  },
)

const addedText = (id: string) => `The team ${id} was added.\n`

const invite = action(
  {
    about: 'invites a person to a team',
    declare: (line) =>
      line
        .requiredOption(...team)
        .requiredOption('--email <EMAIL>', 'the address with which the person signs in')
        .addOption(
          new Option('--role <ROLE>', 'what they may do in the team, by default as its owner').choices([
            'owner',
            'developer',
          ]),
        ),
    async run({ team, email, role = 'owner' }, io) {
      return withDatabase(io, async (db) =>
        invited(await inviteToTeam(db, { team, email, role }, new Date()), team, io),
      )
    },
  },
  { json: '{ team, email, role, expiresAt, mailed, portal }', text: (invitation) => invitationText(invitation) },
)

type Invitation = Awaited<ReturnType<typeof inviteToTeam>>

async function invited({ email, role, expiresAt, mailed }: Invitation, team: string, { env }: ActionIo) {
  const { login } = readSettings(env, 'login')
  return {
    team,
    email,
    role,
    expiresAt: new Date(expiresAt * 1000),
    // Services with a mail server send what is queued.
    mailed: mailed && login.smtp !== null,
    portal: `${await readAuthBaseUrl(env)}/oauth/developers`,
  }
}

const invitationText = ({ email, team, role, expiresAt, mailed, portal }: Awaited<ReturnType<typeof invited>>) =>
  `${email} is invited to the team ${team} as ${role} until ${expiresAt.toISOString().slice(0, 10)}. ` +
  (mailed
    ? `An e-mail is on its way: they can sign in\nwith this address at ${portal} and accept\n`
    : `No e-mail was sent: ask them to sign in\nwith this address at ${portal} and accept\n`)

const changeLevel = action(
  {
    about: 'changes the level of a team',
    declare: (line) => line.requiredOption(...team).addOption(level()),
    async run({ team, level }, io) {
      await withDatabase(io, (db) => setLevel(db, team, level, new Date()))
      return { team, level }
    },
  },
  { json: '{ team, level }', text: ({ team, level }) => `The team ${team} now has the level ${level}.\n` },
)

const list = action(
  {
    about: 'lists the teams',
    async run(_values, io) {
      const teams = await withDatabase(io, listTeams)
      return teams.map(({ id, name, level, people, _count }) => ({
        id,
        name,
        level,
        ..._count,
        owners: people.map(({ personId }) => personId),
      }))
    },
  },
  {
    json: '[{ id, name, level, people, apps, clients, owners }]',
    text: (teams) =>
      table([
        ['ID', 'NAME', 'LEVEL', 'PEOPLE', 'APPS', 'CLIENTS', 'OWNERS'].map((head) => [head]),
        ...teams.map(({ id, name, level, people, apps, clients, owners }) => [
          ...[id, name, level, people, apps, clients].map((cell) => [String(cell)]),
          owners.length > 0 ? owners : ['-'],
        ]),
      ]),
  },
)

export const command: Command = {
  about: 'The person who signs in with the e-mail address within 7 days can join the team.',
  actions: { add, invite, level: changeLevel, list, requests, approve, refuse },
  examples: [
    'team add --id sailors --name "Sailors Ltd" --level hobby --owner jo@sailors.example.org',
    'team invite --team sailors --email kim@sailors.example.org --role developer',
    'team level --team sailors --level developer',
    'team list',
  ],
}
